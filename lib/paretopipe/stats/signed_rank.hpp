#pragma once
#include <paretopipe/stats/bootstrap.hpp>

#include <cstddef>
#include <optional>
#include <span>

/// Whether and by how much a number changed between two samples whose values form pairs. Everything here uses the steps
/// from the first value of a pair to the second, so what affects both alike does not matter.
namespace paretopipe::stats {

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

/// The smallest p-value of so many steps: 2 · 0.5^n, when all go the same way. 1 for none. Less than 0.05 takes 6
/// steps.
double smallest_paired_p_value(std::size_t steps);

/// Hodges and Lehmann's estimate of the typical step ("Estimates of Location Based on Rank Tests", 1963): the median of
/// the means of all pairs of steps, including each step with itself. None for no steps.
std::optional<double> typical_step(std::span<const double> steps);

/// The interval for both: all shifts which, subtracted from the steps, the test does not reject at 1 - `level`
/// (Hollander and Wolfe, "Nonparametric Statistical Methods", 1999, section 3.3). It covers at least `level`. None for
/// too few steps: 0.95 takes 6.
std::optional<Interval> typical_step_interval(std::span<const double> steps, double level = 0.95);

}  // namespace paretopipe::stats
