#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Compares outputs of a model with the expected ones. All are float32, with one row for each image.
namespace paretopipe::stage {

std::span<const float> as_floats(const Activation& activation);

/// The index of the largest number in a row, which must not be empty: the class that a classifier names.
std::size_t argmax(std::span<const float> row);

/// The magnitude of the largest number among all outputs.
double largest_magnitude(std::span<const Activation> outputs);

/// The findings on all results so far.
class Comparison {
 public:
  /// Compares bit for bit first. Throws Error(internal) if the two outputs differ in size.
  void add(const Activation& result, const Activation& expected);

  double max_abs_difference() const { return max_abs_difference_; }

  /// The share of images whose class is the expected one; 0 if there are no images.
  double top1_agreement() const;

  std::int64_t images() const { return images_; }

 private:
  double max_abs_difference_ = 0;
  std::int64_t images_ = 0;
  std::int64_t agreeing_ = 0;
};

}  // namespace paretopipe::stage
