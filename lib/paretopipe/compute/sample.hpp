#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// What a model takes one of for each row of a batch.
struct Sample {
  std::vector<std::int64_t> shape;  ///< without the batch dimension
  std::int64_t vocabulary = 0;      ///< tokens below it, int64; 0: float32

  bool is_tokens() const { return vocabulary > 0; }
};

/// Uninitialised memory for so many samples, contiguous.
at::Tensor empty_batch(const Sample& sample, std::int64_t size);

/// What is there to be computed on, in a fixed order: a data set, or a person's own files. Call under
/// c10::InferenceMode.
class Samples {
 public:
  virtual ~Samples() = default;

  virtual std::int64_t count() const = 0;

  /// Sample `index`, of 0 … count() - 1, in the memory of `row`, which has the sample's shape. Throws UsageError or
  /// EnvironmentError for a damaged file.
  virtual void write(std::int64_t index, at::Tensor row) const = 0;

  /// The class of every sample, where the data say it themselves.
  virtual std::vector<std::int64_t> labels() const { return {}; }
};

}  // namespace paretopipe::compute
