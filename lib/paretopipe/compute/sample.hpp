#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// What a model takes for each row of a batch.
struct Sample {
  std::vector<std::int64_t> shape;  ///< without the batch dimension
  std::int64_t vocabulary = 0;      ///< samples are int64 tokens below it; 0: float32 numbers

  bool is_tokens() const { return vocabulary > 0; }
};

/// Uninitialised, contiguous memory for `size` samples.
at::Tensor empty_batch(const Sample& sample, std::int64_t size);

/// The samples to compute on, in a fixed order: a data set, or the user's own files. Call under c10::InferenceMode.
class Samples {
 public:
  virtual ~Samples() = default;

  virtual std::int64_t count() const = 0;

  /// Writes sample `index`, from 0 to count() - 1, to `row`, which has the sample's shape. Throws UsageError or
  /// EnvironmentError for a damaged file.
  virtual void write(std::int64_t index, at::Tensor row) const = 0;

  /// The class of every sample, if the data contain the classes.
  virtual std::vector<std::int64_t> labels() const { return {}; }
};

}  // namespace paretopipe::compute
