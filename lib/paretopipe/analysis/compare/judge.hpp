#pragma once
#include <paretopipe/analysis/stats/bootstrap.hpp>
#include <paretopipe/analysis/stats/significance.hpp>
#include <paretopipe/record/metric.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::compare {

/// A change that must not happen: "throughput < -5%" is broken where throughput fell by more than 5 % (see below).
struct Rule {
  const record::Metric* metric = nullptr;
  bool above = false;  ///< '>': changes above the threshold break the rule; otherwise those below it
  double percent = 0;  ///< of the base's median: > -100; at most 0 for '<', at least 0 for '>'

  std::string text() const;  ///< "throughput < -5%"

  bool operator==(const Rule&) const = default;
};

/// Parses "METRIC < -N%" or "METRIC > +N%"; blanks are optional. Throws UsageError for anything else: an unknown
/// metric, a threshold that no change at all would already pass, or one that no change can pass.
Rule parse_rule(std::string_view text);

// Decides when a change is more than noise, and when it breaks a rule.
//
// A change of a metric from `base` to `now` is beyond noise if and only if its test has p < 0.05 after the correction
// below, and all that was measured agrees on its direction. Both tests are two-sided:
//   - Two sweeps are compared by Mann and Whitney's U test. The direction is that of the medians and of the ranks. The
//     95 % bootstrap interval of the ratio of the medians (where there is a ratio) must not contain 1, because
//     intervals of few repetitions are optimistic (stats::coverage_bound).
//   - Repetitions that were measured side by side are compared by Wilcoxon's signed-rank test of the logarithms of
//     their ratios, with the estimate and the interval that belong to this test.
// Every metric, and so every rule, makes one check per configuration and one check of all configurations together. The
// latter looks at the geometric mean of the changes, repetition by repetition, and shows what hits every configuration
// a little. The p-values of all these checks are corrected as one family by Holm's step-down procedure with weights
// ("A Simple Sequentially Rejective Multiple Test Procedure", 1979). The check of all together weighs as much as the
// others in sum. A metric therefore has a change beyond noise in less than 5 % of all comparisons of equal programs. A
// rule looks in one direction only and is broken in less than half as many.
// A check is undecided if there are too few repetitions for even values that do not overlap to have p < 0.05.

inline constexpr double kSignificance = 0.05;

enum class Verdict {
  better,     ///< beyond noise, in the metric's good direction
  worse,      ///< beyond noise, in the bad direction
  no_change,  ///< not beyond noise
  too_few,    ///< too few repetitions to decide this many checks
  lost,       ///< the base has the configuration, and every new repetition failed
};

/// One value per repetition of both sides.
struct Samples {
  std::vector<double> base;
  std::vector<double> now;
  bool paired = false;      ///< values at the same index were measured side by side
  bool all_failed = false;  ///< there were new repetitions and none succeeded; `now` is empty
};

/// One metric on both sides, in one configuration or in all together.
struct Change {
  const record::Metric* metric = nullptr;
  bool paired = false;
  std::size_t base_count = 0;  ///< repetitions with a value; if paired, only those whose partner has one
  std::size_t new_count = 0;
  std::optional<double> base_median;  ///< in the metric's unit; absent where no repetition has a value
  std::optional<double> new_median;
  std::optional<double> ratio;                   ///< new / base: of the medians, or typical of all pairs
  std::optional<stats::Interval> interval;       ///< 95 % interval of the ratio
  std::optional<stats::MannWhitney> rank_test;   ///< absent for pairs, and where a side has no values
  std::optional<stats::SignedRank> signed_test;  ///< for pairs only
  std::optional<double> p_value;                 ///< of the test that was used
  std::optional<double> effect;  ///< Cliff's delta, or rank-biserial correlation for pairs; 1: all values have grown
  int direction = 0;             ///< 1 upwards, -1 downwards, 0 where the measured quantities disagree

  // Set by decide():
  std::optional<double> corrected_p;   ///< absent where there is no p-value
  std::size_t checks = 1;              ///< size of its family, this check included
  std::size_t repetitions_needed = 0;  ///< on each side, for values that do not overlap to be beyond noise
  Verdict verdict = Verdict::too_few;

  bool beyond_noise() const { return verdict == Verdict::better || verdict == Verdict::worse; }
  bool measured() const { return base_count > 0 || new_count > 0; }
};

/// Measures the change and leaves the verdict open, unless it is `lost`. The seed is the bootstrap's.
Change measure_change(const record::Metric& metric, const Samples& samples, std::uint64_t seed);

/// Decides the verdicts of one metric: of its configurations, and of all together (`overall`, which may be nullptr).
void decide(std::span<Change* const> configurations, Change* overall);

/// Corrects p-values by Holm's procedure with weights. Comparing the results with 0.05 rejects what the procedure
/// rejects.
std::vector<double> holm_corrected(std::span<const double> p_values, std::span<const double> weights);

enum class Outcome { held, broken, undecided };

/// Broken: the change is beyond noise and past the threshold, or the configuration was lost. Undecided: there are too
/// few repetitions, or neither side has the metric. `change` must be of the rule's metric. Where the base's median is
/// 0, growth is past every threshold.
Outcome apply(const Rule& rule, const Change& change);

}  // namespace paretopipe::compare
