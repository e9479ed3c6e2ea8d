#include <paretopipe/stats/quantile.hpp>
#include <paretopipe/stats/signed_rank.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace paretopipe::stats {
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
  if (steps.empty()) throw std::invalid_argument("no pairs cannot be compared");
  if (std::any_of(steps.begin(), steps.end(), [](double step) { return std::isnan(step); })) {
    throw std::invalid_argument("NaN has no place in an order");
  }
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

}  // namespace paretopipe::stats
