#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace paretopipe::frontier {

/// Says whether less or more of an objective is better.
enum class Sense { minimise, maximise };

/// Points in the space of some objectives, numbered from 0 in the order in which they were added.
class Points {
 public:
  /// Throws std::invalid_argument if there is no objective.
  explicit Points(std::vector<Sense> senses);

  /// Adds a point with one value per objective. A point that lacks a value is kept as incomplete. It cannot be
  /// compared, so it is not on the frontier and keeps no other point off it. Throws std::invalid_argument for NaN or
  /// another number of values.
  void add(std::span<const std::optional<double>> values);

  void reserve(std::size_t points) { costs_.reserve(points * senses_.size()); }
  std::size_t size() const { return size_; }
  std::size_t objectives() const { return senses_.size(); }
  const std::vector<Sense>& senses() const { return senses_; }
  const std::vector<std::size_t>& incomplete() const { return incomplete_; }

  /// The values of a complete point, with maximised objectives negated, so that less is always better.
  std::span<const double> costs(std::size_t point) const {
    return std::span(costs_).subspan(point * senses_.size(), senses_.size());
  }

 private:
  std::vector<Sense> senses_;
  std::vector<double> costs_;            // row by row; 0 for a missing value
  std::vector<std::size_t> incomplete_;  // ascending
  std::size_t size_ = 0;
};

/// A point dominates another if it is at least as good in every objective and better in one (Pareto dominance). Equal
/// points do not dominate each other.
struct Frontier {
  std::vector<std::size_t> members;  ///< points that no other point dominates, ascending; equal points are all kept
  std::vector<std::optional<std::size_t>> dominator;  ///< per point: a member that dominates it, if there is one
  std::vector<std::size_t> incomplete;                ///< points that lack an objective: neither members nor dominated
};

/// Takes O(n log n) for up to three objectives (Kung, Luccio and Preparata, "On Finding the Maxima of a Set of
/// Vectors", 1975). For more objectives, each point is compared with the members found before it, in O(n · members). If
/// there are thousands of points, those dominated by a few good ones are eliminated first.
Frontier find_frontier(const Points& points);

// Sorts complete points, fast enough for millions: their costs are compared only if nothing cheaper tells them apart.

/// `chosen` in lexicographic order of their costs; equal points are in the order of their numbers. No point is
/// dominated by one that comes after it.
std::vector<std::size_t> lexicographic_order(const Points& points, std::span<const std::size_t> chosen);

/// The rank of each of `chosen` in one objective, from 1: the number of different costs among them that are no larger.
std::vector<std::size_t> ranks(const Points& points, std::span<const std::size_t> chosen, std::size_t objective);

// Picks one point of a frontier.

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
