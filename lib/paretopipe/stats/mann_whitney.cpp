#include <paretopipe/stats/mann_whitney.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace paretopipe::stats {
namespace {

/// The ranks of both samples in their common order.
struct Order {
  double u = 0;         ///< as in MannWhitney
  double tie_term = 0;  ///< sum of t^3 - t over the groups of t equal values; 0 without ties
};

Order order_of(std::span<const double> first, std::span<const double> second) {
  std::vector<std::pair<double, bool>> all;  // value, whether it belongs to the second sample
  for (const double value : first) all.emplace_back(value, false);
  for (const double value : second) all.emplace_back(value, true);
  std::sort(all.begin(), all.end());

  Order order;
  double firsts_below = 0;
  for (auto group = all.begin(); group != all.end();) {
    const auto end = std::find_if(group, all.end(), [&](const auto& entry) { return entry.first != group->first; });
    const auto size = static_cast<double>(end - group);
    const auto seconds = static_cast<double>(std::count_if(group, end, [](const auto& entry) { return entry.second; }));
    const double firsts = size - seconds;
    order.u += seconds * (firsts_below + firsts / 2);
    order.tie_term += size * size * size - size;
    firsts_below += firsts;
    group = end;
  }
  return order;
}

/// f(m, n, u): the number of orders of m and n different values for which U is u, for u = 0 … m n. f(m, n, u) = f(m -
/// 1, n, u - n) + f(m, n - 1, u), by the sample that the largest value belongs to. Only positive numbers are added, so
/// no digits cancel.
std::vector<double> frequencies(std::size_t m, std::size_t n) {
  std::vector<std::vector<double>> rows(m + 1, std::vector<double>(m * n + 1, 0));
  for (auto& row : rows) row[0] = 1;  // n = 0: all values of one sample
  for (std::size_t j = 1; j <= n; ++j) {
    for (std::size_t i = 1; i <= m; ++i) {
      for (std::size_t u = j; u <= i * j; ++u) rows[i][u] += rows[i - 1][u - j];
    }
  }
  return rows[m];
}

double exact_p_value(double u, std::size_t m, std::size_t n) {
  const auto counts = frequencies(m, n);
  const auto tail = static_cast<std::ptrdiff_t>(std::min(u, static_cast<double>(m * n) - u));
  const double as_far = std::accumulate(counts.begin(), counts.begin() + tail + 1, 0.0);
  return std::min(1.0, 2 * as_far / std::accumulate(counts.begin(), counts.end(), 0.0));
}

double approximate_p_value(const Order& order, double m, double n) {
  const double total = m + n;
  const double variance = m * n / 12 * (total + 1 - order.tie_term / (total * (total - 1)));
  if (!(variance > 0)) return 1;
  const double distance = std::abs(order.u - m * n / 2) - 0.5;
  return distance <= 0 ? 1 : std::erfc(distance / std::sqrt(2 * variance));
}

void check(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("an empty sample cannot be compared");
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    throw std::invalid_argument("NaN has no place in an order");
  }
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second) {
  check(first);
  check(second);
  const auto order = order_of(first, second);
  const bool exact = order.tie_term == 0 && std::max(first.size(), second.size()) <= kExactSize;
  const double p =
      exact ? exact_p_value(order.u, first.size(), second.size())
            : approximate_p_value(order, static_cast<double>(first.size()), static_cast<double>(second.size()));
  return {order.u, p, exact};
}

double smallest_p_value(std::size_t first, std::size_t second) {
  double p = 2;
  for (std::size_t i = 1; i <= first; ++i) p *= static_cast<double>(i) / static_cast<double>(second + i);
  return std::min(1.0, p);
}

}  // namespace paretopipe::stats
