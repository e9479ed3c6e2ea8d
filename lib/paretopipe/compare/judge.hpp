#pragma once
#include <paretopipe/compare/rule.hpp>
#include <paretopipe/stats/bootstrap.hpp>
#include <paretopipe/stats/mann_whitney.hpp>
#include <paretopipe/stats/signed_rank.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// When a change is more than noise, and when it breaks a rule.
///
/// A change of a metric from `base` to `now` is beyond noise if and only if its test has p < 0.05 after the correction
/// below, and all that was measured agrees on its direction. There are two tests, both two-sided:
///   - of two sweeps, Mann and Whitney's U test; the direction is that of the medians and of the ranks, and the 95 %
///     bootstrap interval of the ratio of the medians (where there is a ratio) must not contain 1, since intervals of
///     few repetitions are optimistic (stats::coverage_bound);
///   - of repetitions that were measured side by side, Wilcoxon's signed-rank test of the logarithms of their ratios,
///     with the estimate and the interval that belong to it.
/// Every metric, and so every rule, makes a check of each configuration, and one of all of them together: of the
/// geometric mean of their changes, repetition by repetition, which shows what hits every configuration a little. The p
/// of all these checks are corrected as one family, by Holm's step-down procedure with weights ("A Simple Sequentially
/// Rejective Multiple Test Procedure", 1979), where the check of all together weighs as much as the others do in sum.
/// So in less than 5 % of all comparisons of equal programs a metric has a change beyond noise; and a rule, which looks
/// in one direction only, is broken in less than half of that.
/// It cannot be decided with too few repetitions: where not even values that do not overlap would have p < 0.05.
namespace paretopipe::compare {

inline constexpr double kSignificance = 0.05;

enum class Verdict {
  better,     ///< beyond noise, in the metric's good direction
  worse,      ///< beyond noise, in the other
  no_change,  ///< none beyond noise
  too_few,    ///< too few repetitions to decide, in so many checks
  lost,       ///< the base had it, and not one of the new repetitions succeeded
};

/// One value a repetition of both sides.
struct Samples {
  std::vector<double> base;
  std::vector<double> now;
  bool paired = false;      ///< values at the same place were measured side by side
  bool all_failed = false;  ///< there were new repetitions, and none succeeded: `now` is empty
};

/// One metric on both sides, of one configuration or of all together.
struct Change {
  const record::Metric* metric = nullptr;
  bool paired = false;
  std::size_t base_count = 0;  ///< repetitions that have the number; of pairs, those whose partner has it too
  std::size_t new_count = 0;
  std::optional<double> base_median;  ///< in the metric's unit; absent where no repetition has it
  std::optional<double> new_median;
  std::optional<double> ratio;                   ///< new / base: of the medians, or the typical one of all pairs
  std::optional<stats::Interval> interval;       ///< of the ratio, 95 %
  std::optional<stats::MannWhitney> rank_test;   ///< absent where a side has no values, and for pairs
  std::optional<stats::SignedRank> signed_test;  ///< of pairs
  std::optional<double> p_value;                 ///< of the one or the other
  std::optional<double> effect;  ///< Cliff's delta, or the pairs' rank-biserial correlation. 1: all values have grown
  int direction = 0;             ///< of the change: 1 upwards, -1 downwards, 0 where what was measured disagrees

  // What decide() makes of it:
  std::optional<double> corrected_p;   ///< absent where there is no p
  std::size_t checks = 1;              ///< of its family, this one included
  std::size_t repetitions_needed = 0;  ///< on each side, for values that do not overlap to be beyond noise
  Verdict verdict = Verdict::too_few;

  bool beyond_noise() const { return verdict == Verdict::better || verdict == Verdict::worse; }
  bool measured() const { return base_count > 0 || new_count > 0; }
};

/// Everything but the verdict, which is `lost` or still open. The seed is the bootstrap's.
Change measure_change(const record::Metric& metric, const Samples& samples, std::uint64_t seed);

/// The verdicts of one metric: of its configurations, and of all together if there is such a change (or nullptr).
void decide(std::span<Change* const> configurations, Change* overall);

/// p-values corrected by Holm's procedure with weights: compared with 0.05, they reject what the procedure rejects.
std::vector<double> holm_corrected(std::span<const double> p_values, std::span<const double> weights);

enum class Outcome { held, broken, undecided };

/// Broken: beyond noise, and the change is past the threshold; or the configuration was lost. Undecided: too few
/// repetitions, or neither side has the metric. `change` is of the rule's metric. Where the base's median is 0, growth
/// is past every threshold.
Outcome apply(const Rule& rule, const Change& change);

}  // namespace paretopipe::compare
