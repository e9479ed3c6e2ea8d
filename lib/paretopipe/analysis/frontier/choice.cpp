#include <paretopipe/analysis/frontier/frontier.hpp>

#include <algorithm>
#include <numeric>

namespace paretopipe::frontier {

namespace {

/// Where `value` lies between `best` (0) and `worst` (1); 0 if these are equal.
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

Choice worst_of(std::span<const std::vector<double>> regrets, std::size_t option) {
  Choice choice{option, regrets.front()[option], 0};
  for (std::size_t i = 1; i < regrets.size(); ++i) {
    if (regrets[i][option] > choice.worst_regret) choice = {option, regrets[i][option], i};
  }
  return choice;
}

double sum_of(std::span<const std::vector<double>> regrets, std::size_t option) {
  return std::accumulate(regrets.begin(), regrets.end(), 0.0,
                         [&](double sum, const std::vector<double>& of_case) { return sum + of_case[option]; });
}

/// The allowed choice with the smallest sum; the first of equal ones. At least one must be allowed.
template <class Allowed>
Choice least_sum(std::span<const std::vector<double>> regrets, std::span<const Choice> choices, Allowed allowed) {
  std::optional<Choice> chosen;
  double least = 0;
  for (const auto& choice : choices) {
    if (!allowed(choice)) continue;
    const double sum = sum_of(regrets, choice.option);
    if (chosen && sum >= least) continue;
    chosen = choice;
    least = sum;
  }
  return *chosen;
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
  if (regrets.empty() || regrets.front().empty()) return std::nullopt;
  std::vector<Choice> choices;
  for (std::size_t option = 0; option < regrets.front().size(); ++option) choices.push_back(worst_of(regrets, option));
  const auto least = *std::min_element(choices.begin(), choices.end(), [](const Choice& left, const Choice& right) {
    return left.worst_regret < right.worst_regret;
  });
  const auto equally_bad = least_sum(regrets, choices, [&](const Choice& choice) {
    return choice.worst_case == least.worst_case &&
           1 + choice.worst_regret <= (1 + least.worst_regret) * (1 + kEquallyBad);
  });
  // Another option that is as good in every case may have its worst case elsewhere.
  return least_sum(regrets, choices, [&](const Choice& choice) {
    return std::all_of(regrets.begin(), regrets.end(), [&](const std::vector<double>& of_case) {
      return of_case[choice.option] <= of_case[equally_bad.option];
    });
  });
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
