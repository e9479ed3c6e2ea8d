#pragma once
#include <paretopipe/config/experiment.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/sweep.hpp>

#include <functional>
#include <span>
#include <vector>

namespace paretopipe::run {

/// How many splits of an adaptive sweep ended in each way.
struct AdaptiveOutcome {
  int settled = 0;
  int dominated = 0;
  int open = 0;     ///< neither, when trials or budget were used up
  int trials = 0;   ///< trials that were run
  int planned = 0;  ///< all repetitions of all splits
};

/// Runs as many repetitions of every split as necessary (round_verdict.hpp). `plan` holds all trials that may run, in
/// the order of plan_trials(): model by model, and repetition by repetition through all groups of a model. A round is
/// one repetition of every split of a group. After it, the group's next rounds leave out splits about which nothing
/// more can be learnt. Groups take turns as long as they have anything to measure.
///
/// `known`: records of an earlier run of the same sweep, whose trials are not run again. The budget counts from now, is
/// shared equally among the remaining models, and is checked between rounds; `now` tells the time. Throws what
/// Sweep::run throws.
AdaptiveOutcome run_adaptive_sweep(const std::vector<plan::Trial>& plan, std::span<const record::TrialRecord> known,
                                   Sweep& sweep, const config::Repeat& repeat,
                                   const std::function<Clock::time_point()>& now = Clock::now);

}  // namespace paretopipe::run
