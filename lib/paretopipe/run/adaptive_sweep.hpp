#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/partition.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/run/sweep.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace paretopipe::run {

/// Says if another repetition of a split would teach anything.
enum class Verdict {
  open,       ///< yes: an interval is wider than requested
  settled,    ///< no: its intervals are as narrow as requested
  dominated,  ///< no: not on the frontier even if it were better by the requested precision
};

/// By cut.
using Verdicts = std::map<experiment::Cut, Verdict>;

/// The repetitions that a split needs before it can be dropped as dominated, and before it can count as settled.
/// Settling needs more, because the interval of the median covers at most 75 % with three repetitions, and 93.75 % with
/// five (stats::coverage_bound).
inline constexpr std::size_t kLeastToDrop = 3;
inline constexpr std::size_t kLeastToSettle = 5;

/// Judges the splits of one group (same model, network and settings) by record::usual_objectives() of its measured
/// phases: latency_p50 and throughput, or one of them and payload. Their medians over the repetitions are resampled
/// jointly (stats::resampled_medians), independently for each split.
///
/// A split is `dominated` if no resample puts it on the frontier of all splits even with its latency divided and its
/// throughput multiplied by 1 + precision; its payload is known and not improved. It is `settled` if half of each
/// objective's 95 % interval is at most `precision` of its median. A split without enough ok records is open. Pure: the
/// same records and seed give the same verdicts.
Verdicts judge_round(std::span<const record::TrialRecord> group, double precision, std::uint64_t seed);

/// How many splits of an adaptive sweep ended in each way.
struct AdaptiveOutcome {
  int settled = 0;
  int dominated = 0;
  int open = 0;     ///< neither, when trials or budget were used up
  int trials = 0;   ///< trials that were run
  int planned = 0;  ///< all repetitions of all splits
};

/// Runs as many repetitions of every split as necessary (judge_round). `plan` holds all trials that may run, in the
/// order of plan_trials(): model by model, and repetition by repetition through all groups of a model. A round is one
/// repetition of every split of a group. After it, the group's next rounds leave out the splits whose verdict is not
/// `open`. Groups take turns as long as they have anything to measure.
///
/// `known`: records of an earlier run of the same sweep, whose trials are not run again. The budget counts from now, is
/// shared equally among the remaining models, and is checked between rounds; `now` tells the time. Throws what
/// Sweep::run throws.
AdaptiveOutcome run_adaptive_sweep(const std::vector<experiment::Trial>& plan,
                                   std::span<const record::TrialRecord> known, Sweep& sweep,
                                   const experiment::Repeat& repeat,
                                   const std::function<Clock::time_point()>& now = Clock::now);

}  // namespace paretopipe::run
