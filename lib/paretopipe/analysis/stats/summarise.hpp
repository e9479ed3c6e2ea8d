#pragma once
#include <paretopipe/experiment/server_load.hpp>
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/summary.hpp>

#include <optional>
#include <span>
#include <vector>

namespace paretopipe::stats {

/// Summarises a trial's raw samples: `batch` images per batch, `links` in ring order (empty when all is local). A phase
/// that the trial does not have adds nothing. Warm-up batches enter no statistic; they only count as busy time if they
/// reach into the measured window.
///
/// Throughput: n batches completed after warm-up make (n - 1) batch / (t_last - t_first) images per second, because the
/// first completion only starts the clock. Utilisation: compute time within [t_first, t_last] / (t_last - t_first). If
/// batches are cut into micro-batches, a batch's compute time is the sum over its micro-batches, and a link's transfer
/// time and rates are those of one micro-batch. Rates of a link divide by a median of whole nanoseconds; a median below
/// the clock's resolution counts as 1 ns.
///
/// If batches were dealt out to devices, `links` are the ways to and from each device, and every device has its own
/// utilisation and links, over its own batches. Results come back in groups of up to one per device, so few batches
/// flatter the throughput: with n batches, by up to (devices - 1) / (n - devices).
///
/// Throws UsageError for damaged samples (see breakdown()), for an Offline phase with fewer than two batches after
/// warm-up or no time between the first and the last moment, and for links and stages that do not match.
record::Summary summarise(const std::optional<record::PhaseSamples>& single_stream,
                          const std::optional<record::PhaseSamples>& offline, int batch,
                          const std::vector<record::LinkPayload>& links);

/// Throws UsageError unless the record's summary equals what summarise() makes of its samples, to one part in 10^9
/// (other compilers add in other orders), and there are at least as many samples as its trial asks for. A record
/// without a summary has nothing to check. The same holds for its Server phases. Numbers that were edited by hand or
/// damaged must not become a result.
void check_summary(const record::TrialRecord& record);

/// The share of the arrival rate that the completion rate must reach for a pipeline to have kept up.
inline constexpr double kKeptUp = 0.95;

/// Summarises a Server phase with `batch` images per query. The first `warmup` queries enter no statistic. The n others
/// arrived at (n - 1) batch / (last arrival - first arrival) images per second and were completed at (n - 1) batch /
/// (last completion - first completion). The phase is saturated if the latter is less than kKeptUp of the former. Only
/// many queries show how near to its capacity a pipeline is: a queue that is long by chance looks like one that grows.
///
/// Throws UsageError for damaged moments: unequal lengths, moments of a batch that decrease, batches that arrive or are
/// completed out of order, or fewer than two batches after warm-up.
record::ServerSummary summarise_server(const ServerTimeline& moments, int warmup, int batch);

/// True if the pipeline kept up and the statistic is below the limit.
bool keeps(const record::ServerSummary& summary, const experiment::LatencyBound& bound);

/// The result of the search that tried these rates.
record::MaxRate max_rate_of(const std::vector<record::ServerRun>& runs, const experiment::LatencyBound& bound);

/// Summarises the steps of a trial that trains.
///
/// A step's time runs from the beginning of stage 0's forward of its first micro-batch to the moment when the last
/// stage has updated its weights for it. All other numbers cover the time from the end of the last warm-up step to the
/// end of the last step (without warm-up: from the beginning of the first). In this time a stage's thread computes, or
/// it is free before its next action. Free time counts as transfer while the tensor of that action is on its way: from
/// the sender's first byte handed to the kernel to the last byte here.
///
/// The expected bubble is that of the same schedule played with each stage's median times of forward, backward and
/// update: for stages that take equally long, (K − 1) / (M + K − 1) with gpipe and 1f1b (Huang et al., 2019).
///
/// `clocks`: how well each stage's moments are known in stage 0's time. A step begins on stage 0's clock, so its error
/// is that of its end. Replicas begin to add up gradients when the last replica has its own; until then the others
/// wait.
///
/// Throws UsageError for damaged samples.
record::TrainingSummary summarise_training(const record::TrainingSamples& samples, const experiment::Trial& trial,
                                           std::span<const record::ClockRelation> clocks = {});

}  // namespace paretopipe::stats
