#pragma once
#include <paretopipe/weights/mapped_file.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <ATen/core/Tensor.h>

namespace paretopipe::script {

/// Copies tensors from a mapped file to ordinary memory. Otherwise, pages that the system takes back would be read from
/// the disk again in the middle of a measurement.
class OwnTensors {
 public:
  explicit OwnTensors(std::shared_ptr<const weights::MappedFile> file) : file_(std::move(file)) {}

  /// A copy with the same order in memory, or the tensor itself if it is not in the file. Tensors with the same memory
  /// get the same copy.
  at::Tensor own(const at::Tensor& tensor);

 private:
  using Place = std::pair<const void*, std::int64_t>;  ///< address and number of bytes

  std::shared_ptr<const weights::MappedFile> file_;
  std::map<Place, at::Tensor> copies_;  ///< one-dimensional
};

}  // namespace paretopipe::script
