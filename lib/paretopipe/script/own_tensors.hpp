#pragma once
#include <paretopipe/weights/mapped_file.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <ATen/core/Tensor.h>

namespace paretopipe::script {

/// Copies of tensors that lie where a file is mapped, in memory like any other: a page that the system takes back would
/// be read from the disk again, in the middle of a measurement.
class OwnTensors {
 public:
  explicit OwnTensors(std::shared_ptr<const weights::MappedFile> file) : file_(std::move(file)) {}

  /// The same numbers in the same order of memory; the tensor itself, if its numbers lie elsewhere. Tensors of the same
  /// numbers get the same copy.
  at::Tensor own(const at::Tensor& tensor);

 private:
  using Place = std::pair<const void*, std::int64_t>;  ///< and bytes

  std::shared_ptr<const weights::MappedFile> file_;
  std::map<Place, at::Tensor> copies_;  ///< in one dimension
};

}  // namespace paretopipe::script
