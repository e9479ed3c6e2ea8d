#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

/// How sure a number is, from repetitions alone: the bootstrap (Efron, "Bootstrap Methods: Another Look at the
/// Jackknife", 1979). Repetitions are drawn with replacement, as many as there are, and what is made of them is seen to
/// vary. Everything here is a pure function of its arguments and the seed, the same on every standard library.
///
/// Few repetitions cannot say much, and no resampling changes that: an interval of the median never reaches beyond the
/// smallest and the largest repetition, so it covers the true median in at most 1 - 2 · 0.5^n of all cases, 75 % for 3
/// repetitions and 93.75 % for 5, whatever level was asked for. See coverage_bound(), and say it beside the interval.
namespace paretopipe::stats {

/// Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), ask for 1000 or more where ends of intervals count.
inline constexpr int kResamples = 2000;

/// Both ends included, low <= high, in the unit of what it was made of.
struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

/// Draws repetitions with replacement. What one draw picks serves every metric of these repetitions: the latency and
/// the throughput of one repetition were measured together, and stay together.
class Resampler {
 public:
  /// Of `repetitions` things, numbered from 0. Two sides that are to vary independently need different seeds. Throws
  /// std::invalid_argument for no repetitions.
  Resampler(std::size_t repetitions, std::uint64_t seed);

  /// As many numbers as there are repetitions; valid until the next call.
  std::span<const std::size_t> next();

 private:
  std::mt19937_64 random_;
  std::vector<std::size_t> picked_;
};

/// The medians of `resamples` joint resamples: [m][b] is the median of metric m in resample b. `metrics` has for each
/// metric one value a repetition, all of the same length. Resample b of the same seed and length picks the same
/// repetitions in every call. Throws std::invalid_argument for no values, unequal lengths and what is not finite.
std::vector<std::vector<double>> resampled_medians(std::span<const std::vector<double>> metrics, std::uint64_t seed,
                                                   int resamples = kResamples);

/// Of a statistic's resampled values the middle `level`: the percentile interval (Efron and Tibshirani 1993, chapter
/// 13), its ends by quantile(). Throws std::invalid_argument for no values, NaN, or a level outside (0, 1).
Interval percentile_interval(const std::vector<double>& statistics, double level = 0.95);

/// The percentile interval of the median of `repetitions` from kResamples resamples; none for fewer than 2, of which
/// nothing can vary. Throws std::invalid_argument for what is not finite and a level outside (0, 1).
std::optional<Interval> median_interval(std::span<const double> repetitions, std::uint64_t seed, double level = 0.95);

/// The most that an interval between the smallest and the largest of `repetitions` values can cover of a continuous
/// distribution's median: all miss it when all lie on one side, 1 - 2 · 0.5^n (David and Nagaraja, "Order Statistics",
/// 2003, section 7.1). 0 for fewer than 2.
double coverage_bound(std::size_t repetitions);

}  // namespace paretopipe::stats
