#pragma once
#include <paretopipe/analysis/predict/corrections.hpp>
#include <paretopipe/run/sweep.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::run {

/// The least margin: a prediction may be off by this share, however well the measured splits fit.
inline constexpr double kLeastMargin = 0.02;
/// Splits whose numbers differ by no more than this share are a near tie, which a repetition can turn.
inline constexpr double kNearTie = 0.05;
/// Profiles with a larger median error are wrong: they are of another machine, or of a device that was slowed down.
inline constexpr double kWrongProfile = 0.25;

/// Profiles that measurements proved wrong, and that were made again.
struct RemadeProfiles {
  std::string made_at;      ///< of the first of the wrong ones
  double median_error = 0;  ///< of their predictions for the splits that were measured by then
};

/// How a guided sweep ended.
struct GuidedOutcome {
  double within = kNearTie;  ///< as the guidance said
  int splits = 0;            ///< of the plan; each counts once per codec
  int measured = 0;          ///< of these
  int drawn = 0;             ///< of those measured: drawn by chance, as a check
  int cut_short = 0;         ///< of those measured: not repeated in full, because others were as good up to `within`
  int without_result = 0;    ///< of those measured: every trial failed, so they may be on the frontier
  /// For every split that was left out, a measured one is as good in both numbers up to Guidance::within, unless a
  /// prediction for the split is too pessimistic by more than these margins. Absent if no trial was ok.
  std::optional<predict::Margins> margins{};
  double median_error = 0;  ///< of the last predictions for the measured splits (predict::verify)
  double worst_error = 0;
  predict::Corrections corrections{};  ///< of these predictions
  std::optional<RemadeProfiles> remade{};
};

/// Throws UsageError if the plan's trials differ in more than their splits, codecs and repetitions, or lack a phase.
void check_guided_plan(const std::vector<experiment::Trial>& plan);

/// The question whose answers guide this plan. Throws what check_guided_plan() does, and UsageError if the profiles are
/// of another model, batch, mode or number of devices, or lack a codec.
predict::Question guiding_question(std::vector<predict::Profile> profiles, const std::vector<experiment::Trial>& plan);

/// Profiles the devices as they are now.
using ProfileAgain = std::function<std::vector<predict::Profile>()>;

/// What guides a sweep.
struct Guidance {
  predict::Question question{};
  double within = kNearTie;  ///< the share by which a split has to be better than those measured to deserve a trial
  ProfileAgain again{};      ///< may be empty
};

/// Measures only the splits of a plan that could be on the frontier of latency and throughput, up to near ties. A split
/// is left out if a measured one would be as good in both numbers up to `within`, even if the split's predictions were
/// too pessimistic by the margins (epsilon-dominance: Laumanns et al., Evolutionary Computation 10(3), 2002).
///
/// The sweep first measures not splitting, with which every cut is compared, then a few splits that leave out all
/// others if the predictions hold, and two drawn at random as a check, or more until there are enough to fit the
/// pipeline (predict::fit). Profiles that prove wrong are made again, once. From then on the sweep measures one trial
/// at a time. It takes the split that may be better than those measured by most. When none may be better by more than
/// `within`, it repeats one of the few measured splits that are as good as all measured ones up to `within`. After each
/// trial it predicts the splits anew with what was fitted. The margins are predict::margins_of() what was measured so
/// far, or one and a half times the worst error if that is too little to fit. The sweep ends when no such trial is
/// left.
///
/// `known`: records of an earlier run of the same sweep, whose trials are not run again. Throws what predict_splits(),
/// Sweep::run() and `again` do.
GuidedOutcome run_guided_sweep(const std::vector<experiment::Trial>& plan, std::vector<record::TrialRecord> known,
                               Sweep& sweep, Guidance guidance);

}  // namespace paretopipe::run
