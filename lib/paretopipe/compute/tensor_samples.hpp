#pragma once
#include <paretopipe/compute/sample.hpp>

#include <filesystem>
#include <memory>

namespace paretopipe::compute {

/// Opens the rows of the only tensor of a file (weights::TensorFile): [samples, ...the model's input], float32, or
/// int64 for tokens. They are used unchanged. Throws UsageError, naming the file, for another shape or type, for a
/// token outside the vocabulary, and as TensorFile does.
std::unique_ptr<Samples> open_tensor_samples(const std::filesystem::path& file, const Sample& sample);

}  // namespace paretopipe::compute
