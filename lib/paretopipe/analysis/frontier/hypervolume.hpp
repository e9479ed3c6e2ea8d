#pragma once
#include <paretopipe/analysis/frontier/frontier.hpp>

#include <optional>
#include <span>

namespace paretopipe::frontier {

/// The size of the objective space that the points dominate, up to a reference point (Zitzler and Thiele,
/// "Multiobjective Evolutionary Algorithms", 1999), in the product of the objectives' units.
struct Hypervolume {
  double volume = 0;
  /// Share of the box between the ideal point (the best of each objective) and the reference, in [0, 1]; comparable
  /// across units. None if that box has no volume.
  std::optional<double> share;
};

/// Computes the exact hypervolume for one to four objectives. `reference` has one value per objective, in the points'
/// units and directions. A point adds nothing if it is incomplete, dominated, or not better than the reference in every
/// objective.
///
/// Two and three objectives take O(n log n): a sweep along the last objective keeps the area of a staircase in the
/// first two (Fonseca, Paquete and López-Ibáñez, "An Improved Dimension-Sweep Algorithm for the Hypervolume Indicator",
/// 2006). Four take O(n² log n): slices along the fourth, each the volume of three (While et al., "A Faster Algorithm
/// for Calculating Hypervolume", 2006).
///
/// Throws std::invalid_argument for more than four objectives, another number of reference values, or a reference value
/// that is not finite.
Hypervolume hypervolume(const Points& points, std::span<const double> reference);

}  // namespace paretopipe::frontier
