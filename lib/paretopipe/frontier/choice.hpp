#pragma once
#include <paretopipe/frontier/frontier.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Picking one point where a frontier offers many.
namespace paretopipe::frontier {

/// How far each of an objective's values lies from the best of them: as ratios less one, v / best - 1 where less is
/// better and best / v - 1 where more is, so that half the throughput weighs as much as twice the latency (relative
/// regret: Kouvelis and Yu, "Robust Discrete Optimization and Its Applications", 1997). Where a value is not positive
/// no ratio means anything: then the share of the way from the best to the worst value. The best has 0. Values are
/// finite.
std::vector<double> relative_regret(Sense sense, std::span<const double> values);

struct Choice {
  std::size_t option = 0;
  double worst_regret = 0;     ///< the largest of its regrets
  std::size_t worst_case = 0;  ///< where it has that
};

/// Options that are worst in the same case are equally bad where their ratios to the best differ by less: noise would
/// decide between them.
inline constexpr double kEquallyBad = 0.02;

/// The option whose largest regret is smallest (Savage, "The Theory of Statistical Decision", 1951), where
/// `regrets[case][option]`; among equally bad ones that of the smallest sum, then the first, so that no other option is
/// as good in every case and better in one. None without options or cases.
std::optional<Choice> least_worst(std::span<const std::vector<double>> regrets);

/// The knee of a frontier: every cost scaled so that its best on the frontier is 0 and its worst 1, the member with the
/// smallest sum. For two objectives that is the point farthest from the straight line between the frontier's ends,
/// towards the ideal (Das, "On Characterizing the 'Knee' of the Pareto Curve Based on Normal-Boundary Intersection",
/// 1999). None where a member that is best in an objective has the smallest sum already: such a frontier does not bend
/// that way. `members` are of find_frontier().
std::optional<std::size_t> find_knee(const Points& points, std::span<const std::size_t> members);

}  // namespace paretopipe::frontier
