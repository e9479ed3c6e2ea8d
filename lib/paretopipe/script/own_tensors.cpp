#include <paretopipe/script/own_tensors.hpp>

#include <cstddef>

#include <ATen/ops/from_blob.h>

namespace paretopipe::script {
namespace {

/// The number of elements from the tensor's first to its last, including those in between that are not the tensor's.
std::int64_t extent_of(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  return last + 1;
}

}  // namespace

at::Tensor OwnTensors::own(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || tensor.is_quantized()) return tensor;
  const auto bytes = file_->bytes();
  const auto* first = static_cast<const std::byte*>(tensor.data_ptr());
  if (first < bytes.data() || first >= bytes.data() + bytes.size()) return tensor;
  const auto extent = extent_of(tensor);
  const Place place{first, extent * static_cast<std::int64_t>(tensor.element_size())};
  auto found = copies_.find(place);
  if (found == copies_.end()) {
    const auto numbers = at::from_blob(tensor.data_ptr(), {extent}, tensor.options());
    found = copies_.emplace(place, numbers.clone()).first;
  }
  return found->second.view(tensor.scalar_type()).as_strided(tensor.sizes(), tensor.strides());
}

}  // namespace paretopipe::script
