#pragma once
#include <paretopipe/config/experiment.hpp>
#include <paretopipe/core/clock.hpp>
#include <paretopipe/run/sweep.hpp>

#include <functional>
#include <span>
#include <vector>

namespace paretopipe::run {

/// How the splits of an adaptive sweep ended.
struct AdaptiveOutcome {
  int settled = 0;
  int dominated = 0;
  int open = 0;     ///< neither, when the trials or the budget were used up
  int trials = 0;   ///< that were run, of
  int planned = 0;  ///< which all repetitions of all splits would have been
};

/// Runs as many repetitions of every split as it takes (round_verdict.hpp). `plan` holds all that may be run, as
/// plan_trials() orders them: model by model, and repetition by repetition through all groups of a model. One
/// repetition of every split of a group is a round; after it, splits about which nothing more is to be learnt are left
/// out of the group's next ones, so that its groups take turns as long as they have anything to measure.
///
/// `known`: records of an earlier run of the same sweep, whose trials are not run again. The budget counts from now, is
/// shared out equally among the models that are left, and is looked at between rounds; `now` says what time it is.
/// Throws what Sweep::run throws.
AdaptiveOutcome run_adaptive_sweep(const std::vector<plan::Trial>& plan, std::span<const record::TrialRecord> known,
                                   Sweep& sweep, const config::Repeat& repeat,
                                   const std::function<Clock::time_point()>& now = Clock::now);

}  // namespace paretopipe::run
