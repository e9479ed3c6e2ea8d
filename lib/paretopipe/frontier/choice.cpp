#include <paretopipe/frontier/choice.hpp>

#include <algorithm>
#include <numeric>

namespace paretopipe::frontier {
namespace {

/// `value` on the way from `best` to `worst`, which are 0 and 1; 0 where they are one.
double share_of_way(double value, double best, double worst) {
  return best == worst ? 0 : (value - best) / (worst - best);
}

struct Range {
  double best = 0;
  double worst = 0;
};

std::vector<Range> ranges_of(const Points& points, std::span<const std::size_t> members) {
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < points.objectives(); ++i) {
    const auto [best, worst] = std::minmax_element(members.begin(), members.end(), [&](auto left, auto right) {
      return points.costs(left)[i] < points.costs(right)[i];
    });
    ranges.push_back({points.costs(*best)[i], points.costs(*worst)[i]});
  }
  return ranges;
}

}  // namespace

std::vector<double> relative_regret(Sense sense, std::span<const double> values) {
  std::vector<double> regrets;
  if (values.empty()) return regrets;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const bool less = sense == Sense::minimise;
  const double best = less ? *least : *most;
  const double worst = less ? *most : *least;
  for (const double value : values) {
    if (*least > 0) {
      regrets.push_back(less ? value / best - 1 : best / value - 1);
    } else {
      regrets.push_back(share_of_way(value, best, worst));
    }
  }
  return regrets;
}

std::optional<Choice> least_worst(std::span<const std::vector<double>> regrets) {
  if (regrets.empty()) return std::nullopt;
  std::optional<Choice> chosen;
  double chosen_sum = 0;
  for (std::size_t option = 0; option < regrets.front().size(); ++option) {
    Choice candidate{option, regrets.front()[option], 0};
    double sum = 0;
    for (std::size_t i = 0; i < regrets.size(); ++i) {
      const double regret = regrets[i][option];
      sum += regret;
      if (regret > candidate.worst_regret) candidate = {option, regret, i};
    }
    const bool better = !chosen || candidate.worst_regret < chosen->worst_regret ||
                        (candidate.worst_regret == chosen->worst_regret && sum < chosen_sum);
    if (!better) continue;
    chosen = candidate;
    chosen_sum = sum;
  }
  return chosen;
}

std::optional<std::size_t> find_knee(const Points& points, std::span<const std::size_t> members) {
  if (members.empty()) return std::nullopt;
  const auto ranges = ranges_of(points, members);
  std::optional<std::size_t> knee;
  double least = 0, least_of_ends = 0;
  bool have_end = false;
  for (const auto member : members) {
    const auto costs = points.costs(member);
    double sum = 0;
    bool is_end = false;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      sum += share_of_way(costs[i], ranges[i].best, ranges[i].worst);
      is_end = is_end || costs[i] == ranges[i].best;
    }
    if (is_end) {
      least_of_ends = have_end ? std::min(least_of_ends, sum) : sum;
      have_end = true;
    } else if (!knee || sum < least) {
      knee = member;
      least = sum;
    }
  }
  return knee && least < least_of_ends ? knee : std::nullopt;
}

}  // namespace paretopipe::frontier
