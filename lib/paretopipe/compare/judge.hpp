#pragma once
#include <paretopipe/compare/rule.hpp>
#include <paretopipe/stats/bootstrap.hpp>
#include <paretopipe/stats/mann_whitney.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// When a change is more than noise, and when it breaks a rule.
///
/// A change of a metric's median from `base` to `now` is beyond noise if and only if
///   - the Mann-Whitney U test has p < 0.05 (two-sided),
///   - the 95 % bootstrap interval of the ratio of the medians does not contain 1 (where there is a ratio), and
///   - medians and ranks have moved in the same direction.
/// It cannot be decided with too few repetitions: where not even samples that do not overlap would have p < 0.05. That
/// takes 4 against 4, 3 against 5 or 2 against 8. Intervals of few repetitions are optimistic (stats::coverage_bound),
/// so that neither of the two decides alone. Nothing here corrects for the number of comparisons that are made:
/// thresholds are what keeps a gate over many splits quiet.
namespace paretopipe::compare {

inline constexpr double kSignificance = 0.05;

enum class Verdict {
  better,     ///< beyond noise, in the metric's good direction
  worse,      ///< beyond noise, in the other
  no_change,  ///< none beyond noise
  too_few,    ///< too few repetitions to decide
  lost,       ///< the base had it, and not one of the new repetitions succeeded
};

/// One metric of one configuration on both sides.
struct Change {
  const record::Metric* metric = nullptr;
  std::size_t base_count = 0;  ///< repetitions that have the number
  std::size_t new_count = 0;
  std::optional<double> base_median;  ///< in the metric's unit; absent where no repetition has it
  std::optional<double> new_median;
  std::optional<double> ratio;              ///< of the medians, new / base
  std::optional<stats::Interval> interval;  ///< of the ratio, 95 %
  std::optional<stats::MannWhitney> test;   ///< absent where a side has no values
  std::optional<double> cliffs_delta;       ///< positive: the new values tend to be larger
  Verdict verdict = Verdict::too_few;

  bool beyond_noise() const { return verdict == Verdict::better || verdict == Verdict::worse; }
  bool measured() const { return base_count > 0 || new_count > 0; }
};

/// `base` and `now` have one value a repetition. `all_failed`: there were new repetitions, and none succeeded. The seed
/// is the bootstrap's.
Change judge(const record::Metric& metric, const std::vector<double>& base, const std::vector<double>& now,
             bool all_failed, std::uint64_t seed);

enum class Outcome { held, broken, undecided };

/// Broken: beyond noise, and the change is past the threshold; or the configuration was lost. Undecided: too few
/// repetitions, or neither side has the metric. `change` is of the rule's metric. Where the base's median is 0, growth
/// is past every threshold.
Outcome apply(const Rule& rule, const Change& change);

}  // namespace paretopipe::compare
