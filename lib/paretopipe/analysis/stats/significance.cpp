#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/analysis/stats/significance.hpp>

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
  const double p = distance <= 0 ? 1 : std::erfc(distance / std::sqrt(2 * variance));
  // No order of few values, ties or not, is rarer than that of two samples that do not overlap.
  return std::max(p, smallest_p_value(static_cast<std::size_t>(m), static_cast<std::size_t>(n)));
}

/// `why_not_empty`: the error for no values.
void check(std::span<const double> values, const char* why_not_empty) {
  if (values.empty()) throw std::invalid_argument(why_not_empty);
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    throw std::invalid_argument("NaN has no place in an order");
  }
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second) {
  for (const auto sample : {first, second}) check(sample, "an empty sample cannot be compared");
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

namespace {

/// Twice the rank of each step's size, a whole number even for mean ranks. Steps of 0 are left out.
struct Ranked {
  std::vector<std::size_t> doubled;  ///< ascending
  std::size_t upwards = 0;           ///< sum of those of steps above 0
};

Ranked ranked(std::span<const double> steps) {
  std::vector<double> moves;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(moves), [](double step) { return step != 0; });
  std::sort(moves.begin(), moves.end(), [](double left, double right) { return std::abs(left) < std::abs(right); });
  Ranked result;
  for (std::size_t begin = 0; begin < moves.size();) {
    auto end = begin;
    while (end < moves.size() && std::abs(moves[end]) == std::abs(moves[begin])) ++end;
    for (auto i = begin; i < end; ++i) {
      result.doubled.push_back(begin + 1 + end);
      if (moves[i] > 0) result.upwards += result.doubled.back();
    }
    begin = end;
  }
  return result;
}

/// The probability of each sum if every number is included with probability one half.
std::vector<double> sum_probabilities(std::span<const std::size_t> numbers) {
  const auto total = std::accumulate(numbers.begin(), numbers.end(), std::size_t{0});
  std::vector<double> probabilities(total + 1, 0);
  probabilities[0] = 1;
  std::size_t reached = 0;
  for (const auto number : numbers) {
    reached += number;
    for (auto sum = reached + 1; sum-- > 0;) {
      probabilities[sum] = (probabilities[sum] + (sum < number ? 0 : probabilities[sum - number])) / 2;
    }
  }
  return probabilities;
}

std::vector<double> means_of_pairs(std::span<const double> steps) {
  std::vector<double> means;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) means.push_back(std::midpoint(steps[i], steps[j]));
  }
  return means;
}

}  // namespace

SignedRank signed_rank(std::span<const double> steps) {
  check(steps, "no pairs cannot be compared");
  const auto [doubled, upwards] = ranked(steps);
  if (doubled.empty()) return {};
  const auto probabilities = sum_probabilities(doubled);
  const auto total = probabilities.size() - 1;
  const auto tail = static_cast<std::ptrdiff_t>(std::min(upwards, total - upwards));
  const double as_far = std::accumulate(probabilities.begin(), probabilities.begin() + tail + 1, 0.0);
  const auto share = static_cast<double>(upwards) / static_cast<double>(total);
  return {static_cast<double>(upwards) / 2, std::min(1.0, 2 * as_far), 2 * share - 1};
}

double smallest_paired_p_value(std::size_t steps) {
  return std::min(1.0, std::ldexp(2.0, -static_cast<int>(steps)));
}

std::optional<double> typical_step(std::span<const double> steps) {
  return median(means_of_pairs(steps));
}

std::optional<Interval> typical_step_interval(std::span<const double> steps, double level) {
  if (!(level > 0 && level < 1)) throw std::invalid_argument("an interval's level must be in (0, 1)");
  std::vector<std::size_t> ranks(steps.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  std::size_t outside = 0;  // means outside either end of the interval
  double tail = 0;
  for (const double probability : sum_probabilities(ranks)) {
    tail += probability;
    if (tail > (1 - level) / 2) break;
    ++outside;
  }
  if (outside == 0) return std::nullopt;
  auto means = means_of_pairs(steps);
  std::sort(means.begin(), means.end());
  return Interval{means[outside - 1], means[means.size() - outside]};
}

namespace {

using Values = std::vector<double>;

/// Makes the draws of the second sample differ from those of the first.
constexpr std::uint64_t kOtherStream = 0x9e3779b97f4a7c15U;

Values resampled(std::span<const double> values, std::uint64_t seed) {
  const std::vector<Values> metrics{Values(values.begin(), values.end())};
  return resampled_medians(metrics, seed).front();
}

}  // namespace

std::optional<double> ratio_of_medians(std::span<const double> before, std::span<const double> now) {
  const auto old_median = median(Values(before.begin(), before.end()));
  const auto new_median = median(Values(now.begin(), now.end()));
  if (!old_median || !new_median || !(*old_median > 0)) return std::nullopt;
  const double ratio = *new_median / *old_median;
  return std::isfinite(ratio) ? std::optional(ratio) : std::nullopt;
}

std::optional<Interval> ratio_interval(std::span<const double> before, std::span<const double> now, std::uint64_t seed,
                                       double level) {
  if (before.size() < 2 || now.size() < 2) return std::nullopt;
  const auto old_medians = resampled(before, seed);
  auto ratios = resampled(now, seed ^ kOtherStream);
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (!(old_medians[i] > 0)) return std::nullopt;
    ratios[i] /= old_medians[i];
    if (!std::isfinite(ratios[i])) return std::nullopt;
  }
  return percentile_interval(ratios, level);
}

std::optional<double> cliffs_delta(std::span<const double> before, std::span<const double> now) {
  if (before.empty() || now.empty()) return std::nullopt;
  const auto pairs = static_cast<double>(before.size()) * static_cast<double>(now.size());
  return 2 * mann_whitney(before, now).u / pairs - 1;
}

}  // namespace paretopipe::stats
