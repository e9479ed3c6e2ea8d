#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Outputs of a model held against what they ought to be. All are float32, with one row for each image.
namespace paretopipe::stage {

std::span<const float> as_floats(const Activation& activation);

/// Where the largest number of a row is, which must not be empty: the class that a classifier names.
std::size_t argmax(std::span<const float> row);

/// Magnitude of the largest number among all outputs.
double largest_magnitude(std::span<const Activation> outputs);

/// What was found of all results so far.
class Comparison {
 public:
  /// Compares bit for bit first. Throws Error(internal) for two outputs of different sizes.
  void add(const Activation& result, const Activation& expected);

  double max_abs_difference() const { return max_abs_difference_; }

  /// Share of the images whose class is the expected one; 0 of none.
  double top1_agreement() const;

  std::int64_t images() const { return images_; }

 private:
  double max_abs_difference_ = 0;
  std::int64_t images_ = 0;
  std::int64_t agreeing_ = 0;
};

}  // namespace paretopipe::stage
