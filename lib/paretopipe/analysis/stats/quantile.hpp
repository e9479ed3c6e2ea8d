#pragma once
#include <paretopipe/record/summary.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace paretopipe::stats {

/// The q-quantile by linear interpolation between order statistics at (n - 1) q: type 7 of Hyndman and Fan, "Sample
/// Quantiles in Statistical Packages" (1996), the default of R and NumPy. Values may be in any order. None for no
/// values. Throws std::invalid_argument for q outside [0, 1] or a NaN value.
std::optional<double> quantile(std::vector<double> values, double q);

/// The 0.5-quantile; for an even count, the mean of the middle two.
std::optional<double> median(std::vector<double> values);

/// Arithmetic mean; none for no values.
std::optional<double> mean(std::span<const std::int64_t> values);

/// All statistics of a set of durations in nanoseconds; none for no values.
std::optional<record::Distribution> distribution(std::span<const std::int64_t> durations_ns);

/// The limit above which a duration is far out: Q3 + 3 (Q3 - Q1), the outer fence of Tukey, "Exploratory Data Analysis"
/// (1977). Never less than 2 % above Q3, because a small difference does not count if all durations are nearly the
/// same. None for fewer than four durations.
std::optional<double> outer_fence_ns(std::span<const std::int64_t> durations_ns);

}  // namespace paretopipe::stats
