#pragma once
#include <paretopipe/analysis/predict/corrections.hpp>
#include <paretopipe/run/sweep.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::run {

/// A prediction counts as off by this share at least, however well the measured ones fit.
inline constexpr double kLeastMargin = 0.02;
/// Splits whose numbers differ by no more than this share are a near tie, which a repetition can turn.
inline constexpr double kNearTie = 0.05;
/// Profiles whose median error is more than this are wrong: of another machine, or of a device that was slowed down.
inline constexpr double kWrongProfile = 0.25;

/// Profiles that measurements proved wrong, and that were made again.
struct RemadeProfiles {
  std::string made_at;      ///< of the first of the wrong ones
  double median_error = 0;  ///< of what they had predicted of the splits that were measured by then
};

/// How a guided sweep ended.
struct GuidedOutcome {
  double within = kNearTie;  ///< as the guidance said
  int splits = 0;            ///< of the plan, each with each codec
  int measured = 0;          ///< of these
  int drawn = 0;             ///< of those measured: by chance, as a check
  int cut_short = 0;       ///< of those measured: others were as good but for `within` before they had all repetitions
  int without_result = 0;  ///< of those measured: every trial failed, so they may be on the frontier
  /// For every split that was left out a measured one is as good in both numbers, but for Guidance::within, unless one
  /// of its predictions is too bad by more than this. Absent if no trial was ok.
  std::optional<predict::Margins> margins{};
  double median_error = 0;  ///< of the last predictions of what was measured, as predict::verify has it
  double worst_error = 0;
  predict::Corrections corrections{};  ///< of these predictions
  std::optional<RemadeProfiles> remade{};
};

/// Throws UsageError if the plan's trials differ in more than their splits, codecs and repetitions, or lack a phase.
void check_guided_plan(const std::vector<experiment::Trial>& plan);

/// The question whose answers guide this plan. Throws what check_guided_plan() does, and UsageError if the profiles are
/// of another model, batch, mode or number of devices, or lack a codec.
predict::Question guiding_question(std::vector<predict::Profile> profiles, const std::vector<experiment::Trial>& plan);

/// Makes profiles of the devices as they are now.
using ProfileAgain = std::function<std::vector<predict::Profile>()>;

/// What guides a sweep.
struct Guidance {
  predict::Question question{};
  double within = kNearTie;  ///< the share by which a split has to be better than those measured to be worth a trial
  ProfileAgain again{};      ///< may be empty
};

/// Measures only the splits of a plan that could be on the frontier of latency and throughput, up to near ties: a split
/// is left out if a measured one would be as good in both numbers, but for `within`, even if the split's predictions
/// were too bad by the margins (epsilon-dominance: Laumanns et al., Evolutionary Computation 10(3), 2002).
///
/// First come not splitting, with which every cut is compared, the fewest splits that leave out all others if the
/// predictions hold, and two drawn at random as a check, or more until there are enough to fit the pipeline
/// (predict::fit). Profiles that are wrong by then are made again, once. From then on it measures one trial at a time:
/// of the split that may be better than those measured by most, and when none may be by more than `within`, a further
/// repetition of one of the few measured splits that are as good as all measured ones but for `within`. After each of
/// them splits are predicted with what was fitted. The margins are predict::margins_of() what was measured so far, or
/// half more than the worst error if that is too little to fit. Ends when none is left.
///
/// `known`: records of an earlier run of the same sweep, whose trials are not run again. Throws what predict_splits(),
/// Sweep::run() and `again` do.
GuidedOutcome run_guided_sweep(const std::vector<experiment::Trial>& plan, std::vector<record::TrialRecord> known,
                               Sweep& sweep, Guidance guidance);

}  // namespace paretopipe::run
