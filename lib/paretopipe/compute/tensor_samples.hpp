#pragma once
#include <paretopipe/compute/sample.hpp>

#include <filesystem>
#include <memory>

namespace paretopipe::compute {

/// The rows of the one tensor that a file holds (weights::TensorFile): [samples, ...the model's input], float32, or
/// int64 for tokens. They are taken as they are. Throws UsageError, naming the file, for another shape or type, for a
/// token outside the vocabulary, and as TensorFile does.
std::unique_ptr<Samples> open_tensor_samples(const std::filesystem::path& file, const Sample& sample);

}  // namespace paretopipe::compute
