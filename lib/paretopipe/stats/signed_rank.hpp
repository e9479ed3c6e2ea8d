#pragma once
#include <paretopipe/stats/bootstrap.hpp>

#include <cstddef>
#include <optional>
#include <span>

/// Whether a number has changed between two samples whose values belong together in pairs, and by how much. Everything
/// here looks at the steps from the first value of a pair to the second; what moves both of them alike is not seen.
namespace paretopipe::stats {

/// Whether steps lie around 0 (Wilcoxon, "Individual Comparisons by Ranking Methods", 1945). If both sides of a pair
/// are exchangeable, each step might as well have had the other sign, and nothing else is assumed of it.
struct SignedRank {
  double rank_sum = 0;  ///< of the steps upwards, among the sizes of all that are not 0
  double p_value = 1;   ///< two-sided, exact
  double rank_biserial =
      0;  ///< share of that sum upwards, less the share downwards: 1 if every step goes up (Kerby 2014)
};

/// Equal sizes share their mean rank; p is from all signs that these very ranks could have. Takes time in proportion to
/// the third power of the number of steps, 1 ms for 100. Throws std::invalid_argument for no steps or NaN.
SignedRank signed_rank(std::span<const double> steps);

/// The smallest p-value that so many steps can have: 2 · 0.5^n, when all go the same way. 1 for none. It takes 6 for
/// less than 0.05.
double smallest_paired_p_value(std::size_t steps);

/// Hodges and Lehmann's estimate of the typical step ("Estimates of Location Based on Rank Tests", 1963): the median of
/// the means of all pairs of steps, each with itself included. None for no steps.
std::optional<double> typical_step(std::span<const double> steps);

/// The interval that belongs to both: the steps which, taken off all of them, leave the test without an objection at
/// 1 - `level` (Hollander and Wolfe, "Nonparametric Statistical Methods", 1999, section 3.3). It covers at least
/// `level`; none for fewer steps than that takes, which are 6 for 0.95.
std::optional<Interval> typical_step_interval(std::span<const double> steps, double level = 0.95);

}  // namespace paretopipe::stats
