#pragma once
#include <paretopipe/analysis/stats/bootstrap.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace paretopipe::stats {

/// Tests whether two samples come from one distribution (Mann and Whitney, "On a Test of Whether one of Two Random
/// Variables is Stochastically Larger than the Other", 1947).
struct MannWhitney {
  double u = 0;        ///< pairs in which the second sample's value is larger; a tie counts one half
  double p_value = 1;  ///< two-sided: of a U at least as far from its mean if only chance separates the samples
  bool exact = false;  ///< from the distribution of U itself; otherwise from the normal approximation
};

/// Without ties and with at most kExactSize values in each sample, p is exact: twice the smaller tail of U, with
/// frequencies by Mann and Whitney's recurrence. Otherwise p is the normal approximation with correction for ties and
/// continuity (Lehmann, "Nonparametrics", 1975, section 1.4; as in R's wilcox.test and SciPy's mannwhitneyu). If all
/// values are equal, p is 1. Throws std::invalid_argument for an empty sample or NaN.
MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second);

inline constexpr std::size_t kExactSize = 20;

/// The smallest p-value that samples of these sizes can have: 2 / C(m + n, m), when every value of one lies above all
/// of the other. 1 if one of them is empty. 4 against 4 can reach 0.029, 3 against 3 only 0.1.
double smallest_p_value(std::size_t first, std::size_t second);

// Judges whether and by how much a number changed between two samples whose values form pairs. Everything here uses the
// steps from the first value of a pair to the second, so what affects both alike does not matter.

/// Tests whether steps lie around 0 (Wilcoxon, "Individual Comparisons by Ranking Methods", 1945). The null hypothesis
/// is that both sides of a pair are exchangeable: each step could as well have had the other sign. Nothing else is
/// assumed.
struct SignedRank {
  double rank_sum = 0;  ///< sum of the ranks of upward steps, by size, among all that are not 0
  double p_value = 1;   ///< two-sided, exact
  double rank_biserial =
      0;  ///< share of the rank sum upwards less the share downwards: 1 if all steps go up (Kerby 2014)
};

/// Equal sizes share their mean rank. p is computed from all possible signs of these ranks. The time grows with the
/// third power of the number of steps: 1 ms for 100. Throws std::invalid_argument for no steps or NaN.
SignedRank signed_rank(std::span<const double> steps);

/// The smallest p-value that this many steps can have: 2 · 0.5^n, when all go the same way. 1 for none. Less than 0.05
/// takes 6 steps.
double smallest_paired_p_value(std::size_t steps);

/// Hodges and Lehmann's estimate of the typical step ("Estimates of Location Based on Rank Tests", 1963): the median of
/// the means of all pairs of steps, including each step with itself. None for no steps.
std::optional<double> typical_step(std::span<const double> steps);

/// The interval of typical_step(): all shifts which, subtracted from the steps, signed_rank() does not reject at 1 -
/// `level` (Hollander and Wolfe, "Nonparametric Statistical Methods", 1999, section 3.3). It covers at least `level`.
/// None for too few steps: 0.95 takes 6.
std::optional<Interval> typical_step_interval(std::span<const double> steps, double level = 0.95);

// How much a number changed between two independent samples of it.

/// Median of `now` / median of `before`. None if either is empty, if the latter is not positive (a change from nothing
/// has no percentage), or if it is too small for a finite ratio.
std::optional<double> ratio_of_medians(std::span<const double> before, std::span<const double> now);

/// The percentile interval of that ratio. Both samples are resampled with replacement, independently of each other, as
/// often as in resampled_medians(). None if the samples or a resample have no ratio, or if a sample has fewer than 2
/// values. A function of its arguments.
std::optional<Interval> ratio_interval(std::span<const double> before, std::span<const double> now, std::uint64_t seed,
                                       double level = 0.95);

/// Cliff's delta (Cliff, "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions", 1993): the share of
/// pairs in which `now` is larger, less the share in which it is smaller. 1: every value of `now` exceeds every value
/// of `before`; 0: neither side tends to be larger; -1: the opposite of 1. Equals the rank-biserial correlation, 2 U /
/// (m n) - 1. None if a sample is empty.
std::optional<double> cliffs_delta(std::span<const double> before, std::span<const double> now);

}  // namespace paretopipe::stats
