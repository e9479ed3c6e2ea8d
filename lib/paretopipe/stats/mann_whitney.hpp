#pragma once
#include <cstddef>
#include <span>

namespace paretopipe::stats {

/// Whether two samples come from one distribution (Mann and Whitney, "On a Test of Whether one of Two Random Variables
/// is Stochastically Larger than the Other", 1947).
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

}  // namespace paretopipe::stats
