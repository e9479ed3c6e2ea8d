#pragma once
#include <paretopipe/stats/bootstrap.hpp>

#include <cstdint>
#include <optional>
#include <span>

/// How much a number has changed between two independent samples of it.
namespace paretopipe::stats {

/// Median of `now` / median of `before`. None where one of them is empty, or where the latter is not positive (from
/// nothing to something is no percentage) or too small for the ratio to be finite.
std::optional<double> ratio_of_medians(std::span<const double> before, std::span<const double> now);

/// The percentile interval of that ratio: both samples are drawn with replacement, independently of each other, as
/// often as resampled_medians() does. None where the ratio has none, where a sample has fewer than 2 values, or where a
/// resample has none. A function of its arguments.
std::optional<Interval> ratio_interval(std::span<const double> before, std::span<const double> now, std::uint64_t seed,
                                       double level = 0.95);

/// Cliff's delta (Cliff, "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions", 1993): the share of
/// pairs in which `now` is larger, less the share in which it is smaller. 1: every value has grown above all that were
/// before; 0: neither side tends to be larger; -1: the opposite of 1. Equals the rank-biserial correlation, 2 U / (m n)
/// - 1. None where a sample is empty.
std::optional<double> cliffs_delta(std::span<const double> before, std::span<const double> now);

}  // namespace paretopipe::stats
