#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// How certain a number is, judged from repetitions alone: the bootstrap (Efron, "Bootstrap Methods: Another Look at
/// the Jackknife", 1979). It draws as many repetitions as there are, with replacement, and shows how their statistic
/// varies. Everything here is a pure function of its arguments and the seed, the same on every standard library.
///
/// Few repetitions cannot say much, and no resampling changes that. An interval of the median never reaches beyond the
/// smallest and the largest repetition. So whatever its level, it covers the true median in at most 1 - 2 · 0.5^n of
/// all cases: 75 % for 3 repetitions, 93.75 % for 5. See coverage_bound(), and state it beside the interval.
namespace paretopipe::stats {

/// Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), ask for 1000 or more for the ends of intervals.
inline constexpr int kResamples = 2000;

/// Both ends included, low <= high, in the unit of the values.
struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

/// The medians of `resamples` joint resamples: [m][b] is the median of metric m in resample b. `metrics` holds for each
/// metric one value per repetition, all of the same length. One draw serves all metrics: the latency and the throughput
/// of one repetition were measured together and stay together. Resample b picks the same repetitions in every call with
/// the same seed and length; two sides that should vary independently need different seeds. Throws
/// std::invalid_argument for no values, unequal lengths, and values that are not finite.
std::vector<std::vector<double>> resampled_medians(std::span<const std::vector<double>> metrics, std::uint64_t seed,
                                                   int resamples = kResamples);

/// The percentile interval: the middle `level` of a statistic's resampled values (Efron and Tibshirani 1993, chapter
/// 13), with its ends by quantile(). Throws std::invalid_argument for no values, NaN, or a level outside (0, 1).
Interval percentile_interval(const std::vector<double>& statistics, double level = 0.95);

/// The percentile interval of the median of `repetitions` from kResamples resamples. None for fewer than 2 repetitions,
/// which cannot vary. Throws std::invalid_argument for values that are not finite and for a level outside (0, 1).
std::optional<Interval> median_interval(std::span<const double> repetitions, std::uint64_t seed, double level = 0.95);

/// The best coverage of a continuous distribution's median by an interval from the smallest to the largest of
/// `repetitions` values: 1 - 2 · 0.5^n, because it misses when all values lie on one side (David and Nagaraja, "Order
/// Statistics", 2003, section 7.1). 0 for fewer than 2.
double coverage_bound(std::size_t repetitions);

}  // namespace paretopipe::stats
