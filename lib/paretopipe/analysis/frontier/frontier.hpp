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

}  // namespace paretopipe::frontier
