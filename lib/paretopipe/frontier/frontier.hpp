#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace paretopipe::frontier {

/// Which way an objective is good.
enum class Sense { minimise, maximise };

/// Points in the space of some objectives, numbered from 0 in the order in which they were added.
class Points {
 public:
  /// Throws std::invalid_argument when there is no objective.
  explicit Points(std::vector<Sense> senses);

  /// One value an objective. A point that lacks one is kept as incomplete: it cannot be compared, so it neither is on
  /// the frontier nor keeps another off it. Throws std::invalid_argument for NaN or another number of values.
  void add(std::span<const std::optional<double>> values);

  void reserve(std::size_t points) { costs_.reserve(points * senses_.size()); }
  std::size_t size() const { return size_; }
  std::size_t objectives() const { return senses_.size(); }
  const std::vector<Sense>& senses() const { return senses_; }
  const std::vector<std::size_t>& incomplete() const { return incomplete_; }

  /// The values of a complete point with every maximised one negated, so that less is better throughout.
  std::span<const double> costs(std::size_t point) const {
    return std::span(costs_).subspan(point * senses_.size(), senses_.size());
  }

 private:
  std::vector<Sense> senses_;
  std::vector<double> costs_;            // row by row; a zero stands where a value is missing
  std::vector<std::size_t> incomplete_;  // ascending
  std::size_t size_ = 0;
};

/// A point dominates another if it is at least as good in every objective and better in one (Pareto dominance). Equal
/// points do not dominate each other.
struct Frontier {
  std::vector<std::size_t> members;  ///< points that no other point dominates, ascending; equal points are all kept
  std::vector<std::optional<std::size_t>> dominator;  ///< per point: a member that dominates it; none for the others
  std::vector<std::size_t> incomplete;                ///< points that lack an objective: neither members nor dominated
};

/// O(n log n) for up to three objectives (Kung, Luccio and Preparata, "On Finding the Maxima of a Set of Vectors",
/// 1975); for more, every point is compared with the members found before it, O(n · members). Of thousands of points,
/// those that a few good ones dominate are left out before.
Frontier find_frontier(const Points& points);

}  // namespace paretopipe::frontier
