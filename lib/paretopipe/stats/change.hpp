#pragma once
#include <paretopipe/stats/bootstrap.hpp>

#include <cstdint>
#include <optional>
#include <span>

/// How much a number changed between two independent samples of it.
namespace paretopipe::stats {

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
