#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::stats {

/// True if the kernel suspends the stage when it has used its quota of CPU time. The probe's time then says nothing
/// about the core.
bool held_to_quota(const record::StageReport& stage);

/// True if both stages ran on one machine and may have used the same CPU. Without a list, a stage has all CPUs, and is
/// only known to share them with another one that has none.
bool share_cpus(const record::StageReport& one, const record::StageReport& other);

/// What could have made a trial slow by the record's own evidence, one sentence each: CPU time that other processes
/// used on a stage's CPUs, or that the host of a virtual machine took, beyond a tenth of the trial (and two ticks of
/// the kernel's clock); a core whose speed changed by more than 15 % during the trial; pages read from disk. What
/// stages of one pipeline take from each other on shared CPUs is no disturbance.
std::vector<std::string> disturbances(const record::TrialRecord& record);

// Stages that became slower within a trial, e.g. through a throttling processor or a new neighbour.

/// The point from which a series of durations is longer.
struct Rise {
  int first = 0;         ///< first duration of the later part
  double before_ns = 0;  ///< median of the earlier part
  double after_ns = 0;   ///< median of the later part
};

/// Cuts the series where the distances of all durations from the median of their part have the smallest sum. The series
/// has risen if the later part's median is at least kRise times the earlier one's and kLeastRiseNs more, and nine in
/// ten of the later durations are above nine in ten of the earlier ones. Each part has at least kLeastDurations. So
/// neither a burst of slow batches, which outliers show, nor a rise that passed counts.
///
/// A long series is judged by the medians of groups of neighbours; `first` is then the first of a group.
std::optional<Rise> find_rise(std::span<const std::int64_t> durations_ns);

inline constexpr double kRise = 1.25;
inline constexpr double kLeastRiseNs = 100'000;  ///< a smaller rise comes from caches or waking up
inline constexpr std::size_t kLeastDurations = 8;

/// Finds slow-downs in the trial's phases, by each stage's compute time for every measured batch, or by each device's
/// if batches were dealt out. Leaves out rises of less than a quarter of another stage's in the same phase. Throws
/// UsageError for damaged samples (see breakdown()).
std::vector<record::SlowDown> find_slow_downs(const std::optional<record::PhaseSamples>& single_stream,
                                              const std::optional<record::PhaseSamples>& offline);

/// One sentence each: "stage 1 took 1.8 times as long for a batch from batch 31 of the throughput run on".
std::vector<std::string> slow_down_sentences(const record::TrialRecord& record);

/// The number of first durations that are still warm-up: those before the first one within the outer fence of the
/// second half (outer_fence_ns()). The second half is never warm-up. 0 for fewer than eight durations.
int leading_slow(std::span<const std::int64_t> durations_ns);

/// The number of batches to drop from a phase: `samples.warmup` and those after it that are still slower than the rest;
/// judged by latencies in the SingleStream phase, by times between completions in the Offline phase. Throws UsageError
/// for damaged samples (see breakdown()).
int settled_latency_warmup(const record::PhaseSamples& single_stream);
int settled_throughput_warmup(const record::PhaseSamples& offline);

/// Finds the measured batches far out of line (outer_fence_ns()): in the SingleStream phase by their latency, in the
/// Offline phase by the time since the previous completion. A phase that the trial does not have has none. Outliers
/// stay in every statistic: they are to be explained, not removed. Throws UsageError for damaged samples (see
/// breakdown()).
record::Outliers find_outliers(const std::optional<record::PhaseSamples>& single_stream,
                               const std::optional<record::PhaseSamples>& offline);

}  // namespace paretopipe::stats
