#pragma once
#include <paretopipe/frontier/frontier.hpp>

#include <optional>
#include <span>

namespace paretopipe::frontier {

/// How much of objective space the points dominate, up to a reference point (Zitzler and Thiele, "Multiobjective
/// Evolutionary Algorithms", 1999). In the product of the objectives' units.
struct Hypervolume {
  double volume = 0;
  /// Of the box between the ideal point (the best of each objective) and the reference, in [0, 1]: comparable where
  /// units are not. None where that box has no volume.
  std::optional<double> share;
};

/// Exact, for one to four objectives. `reference` has one value an objective, in the units and directions of the
/// points; a point that is not better than it in every objective adds nothing, nor does an incomplete or a dominated
/// one.
///
/// Two and three objectives in O(n log n): a sweep along the last objective that keeps the area of a staircase in the
/// first two (Fonseca, Paquete and López-Ibáñez, "An Improved Dimension-Sweep Algorithm for the Hypervolume Indicator",
/// 2006). Four in O(n² log n): slices along the fourth, each the volume of three (While et al., "A Faster Algorithm for
/// Calculating Hypervolume", 2006).
///
/// Throws std::invalid_argument for more than four objectives, another number of reference values, or one that is not
/// finite.
Hypervolume hypervolume(const Points& points, std::span<const double> reference);

}  // namespace paretopipe::frontier
