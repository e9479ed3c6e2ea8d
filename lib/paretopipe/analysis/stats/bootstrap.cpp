#include <paretopipe/analysis/stats/bootstrap.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/hash.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace paretopipe::stats {

namespace {

void check(std::span<const std::vector<double>> metrics) {
  if (metrics.empty() || metrics.front().empty()) throw std::invalid_argument("nothing to resample");
  for (const auto& values : metrics) {
    if (values.size() != metrics.front().size()) {
      throw std::invalid_argument("every metric needs one value a repetition");
    }
    if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
      throw std::invalid_argument("NaN and infinity cannot be resampled");
    }
  }
}

/// Takes values in any order and reorders them. For an even count, the mean of the middle two, like quantile().
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : std::lerp(*std::max_element(values.begin(), middle), *middle, 0.5);
}

}  // namespace

std::vector<std::vector<double>> resampled_medians(std::span<const std::vector<double>> metrics, std::uint64_t seed,
                                                   int resamples) {
  check(metrics);
  const auto repetitions = metrics.front().size();
  std::mt19937_64 random(seed);
  std::vector<std::size_t> picked(repetitions);
  std::vector<std::vector<double>> medians(metrics.size());
  std::vector<double> values(repetitions);
  for (int resample = 0; resample < resamples; ++resample) {
    for (auto& pick : picked) pick = draw_below(random, repetitions);
    for (std::size_t metric = 0; metric < metrics.size(); ++metric) {
      std::transform(picked.begin(), picked.end(), values.begin(),
                     [&](std::size_t pick) { return metrics[metric][pick]; });
      medians[metric].push_back(median_in_place(values));
    }
  }
  return medians;
}

Interval percentile_interval(const std::vector<double>& statistics, double level) {
  if (!(level > 0 && level < 1)) throw std::invalid_argument("an interval's level must be in (0, 1)");
  if (statistics.empty()) throw std::invalid_argument("no values, no interval");
  const double tail = (1 - level) / 2;
  return {*quantile(statistics, tail), *quantile(statistics, 1 - tail)};
}

std::optional<Interval> median_interval(std::span<const double> repetitions, std::uint64_t seed, double level) {
  if (repetitions.size() < 2) return std::nullopt;
  const std::vector<std::vector<double>> metrics{{repetitions.begin(), repetitions.end()}};
  return percentile_interval(resampled_medians(metrics, seed).front(), level);
}

double coverage_bound(std::size_t repetitions) {
  return repetitions < 2 ? 0 : 1 - std::ldexp(2.0, -static_cast<int>(std::min<std::size_t>(repetitions, 1000)));
}

}  // namespace paretopipe::stats
