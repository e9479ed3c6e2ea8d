#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace paretopipe::stats {

namespace {

/// `sorted` is ascending and not empty, 0 <= q <= 1. At q = 1 the upper neighbour is the last value itself.
double sorted_quantile(std::span<const double> sorted, double q) {
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const auto lower = static_cast<std::size_t>(position);
  const auto upper = std::min(lower + 1, sorted.size() - 1);
  return std::lerp(sorted[lower], sorted[upper], position - static_cast<double>(lower));
}

}  // namespace

std::optional<double> quantile(std::vector<double> values, double q) {
  if (!(q >= 0 && q <= 1)) throw std::invalid_argument("a quantile's q must be in [0, 1]");
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    throw std::invalid_argument("NaN has no place in an order: no quantile exists");
  }
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, q);
}

std::optional<double> median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

std::optional<double> mean(std::span<const std::int64_t> values) {
  if (values.empty()) return std::nullopt;
  // Whole nanoseconds add up exactly: 2^63 of them are 292 years.
  const auto sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  return static_cast<double>(sum) / static_cast<double>(values.size());
}

std::optional<record::Distribution> distribution(std::span<const std::int64_t> durations_ns) {
  if (durations_ns.empty()) return std::nullopt;
  std::vector<double> sorted(durations_ns.begin(), durations_ns.end());
  std::sort(sorted.begin(), sorted.end());
  return record::Distribution{.count = static_cast<std::int64_t>(sorted.size()),
                              .min_ns = sorted.front(),
                              .mean_ns = *mean(durations_ns),
                              .p50_ns = sorted_quantile(sorted, 0.50),
                              .p90_ns = sorted_quantile(sorted, 0.90),
                              .p95_ns = sorted_quantile(sorted, 0.95),
                              .p99_ns = sorted_quantile(sorted, 0.99),
                              .max_ns = sorted.back()};
}

std::optional<double> outer_fence_ns(std::span<const std::int64_t> durations_ns) {
  if (durations_ns.size() < 4) return std::nullopt;
  const std::vector<double> values(durations_ns.begin(), durations_ns.end());
  const double q1 = *quantile(values, 0.25);
  const double q3 = *quantile(values, 0.75);
  return std::max(q3 + 3 * (q3 - q1), 1.02 * q3);
}

}  // namespace paretopipe::stats
