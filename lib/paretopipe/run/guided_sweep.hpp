#pragma once
#include <paretopipe/analysis/predict/prediction.hpp>
#include <paretopipe/run/sweep.hpp>

#include <optional>
#include <vector>

namespace paretopipe::run {

/// How a guided sweep ended.
struct GuidedOutcome {
  int splits = 0;          ///< of the plan
  int measured = 0;        ///< of these
  int without_result = 0;  ///< of those measured: every trial failed, so they may be on the frontier
  /// No split that was left out is on the frontier unless its prediction is off by more than this. Absent if no trial
  /// was ok.
  std::optional<double> margin{};
  double median_error = 0;  ///< of the predictions of what was measured, as predict::verify has it
  double worst_error = 0;
};

/// A prediction counts as off by this share at least, however well the measured ones fit.
inline constexpr double kLeastMargin = 0.05;

/// The question whose answers guide this plan. Throws UsageError if the plan's trials differ in more than their splits
/// and repetitions, or if the profiles are of another model, batch, mode or number of devices.
predict::Question guiding_question(std::vector<predict::Profile> profiles, const std::vector<experiment::Trial>& plan);

/// Measures only the splits of a plan that could be on the frontier of latency and throughput: those that would not be
/// beaten if their predictions were too bad by the margin. In the first round others count as bad by the margin, and
/// two splits are drawn at random besides, as a check. In every further round splits are held against what was
/// measured, and the margin is half more than the worst error that was seen. Ends when none is left.
///
/// `known`: records of an earlier run of the same sweep, whose trials are not run again. Throws what predict_splits()
/// and Sweep::run() do.
GuidedOutcome run_guided_sweep(const std::vector<experiment::Trial>& plan, std::vector<record::TrialRecord> known,
                               Sweep& sweep, const predict::Question& question);

}  // namespace paretopipe::run
