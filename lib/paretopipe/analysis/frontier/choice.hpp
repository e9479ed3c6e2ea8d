#pragma once
#include <paretopipe/analysis/frontier/frontier.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Picks one point of a frontier.
namespace paretopipe::frontier {

/// How far each of an objective's values is from the best one, as a ratio less one: v / best - 1 if less is better, and
/// best / v - 1 if more is. So half the throughput weighs as much as twice the latency (relative regret: Kouvelis and
/// Yu, "Robust Discrete Optimization and Its Applications", 1997). If a value is not positive, ratios mean nothing and
/// the result is the position between the best (0) and the worst (1) value. The best has 0. Values must be finite.
std::vector<double> relative_regret(Sense sense, std::span<const double> values);

struct Choice {
  std::size_t option = 0;
  double worst_regret = 0;     ///< the largest of its regrets
  std::size_t worst_case = 0;  ///< the case in which it has that regret
};

/// Options that are worst in the same case count as equally bad if their ratios to the best differ by less than this:
/// otherwise noise would decide between them.
inline constexpr double kEquallyBad = 0.02;

/// The option whose largest regret is smallest (Savage, "The Theory of Statistical Decision", 1951), with
/// `regrets[case][option]`. Among equally bad options, it is the one with the smallest sum, then the first, so that no
/// other option is as good in every case and better in one. None if there are no options or cases.
std::optional<Choice> least_worst(std::span<const std::vector<double>> regrets);

/// The knee of a frontier: the member with the smallest sum of costs, each scaled so that its best on the frontier is 0
/// and its worst 1. For two objectives, it is the point farthest, towards the ideal, from the straight line between the
/// frontier's ends (Das, "On Characterizing the 'Knee' of the Pareto Curve Based on Normal-Boundary Intersection",
/// 1999). None if a member that is best in an objective already has the smallest sum: such a frontier does not bend
/// that way. `members` are those of find_frontier().
std::optional<std::size_t> find_knee(const Points& points, std::span<const std::size_t> members);

}  // namespace paretopipe::frontier
