#include <paretopipe/compute/sample.hpp>

#include <ATen/ops/empty.h>

namespace paretopipe::compute {

at::Tensor empty_batch(const Sample& sample, std::int64_t size) {
  auto shape = sample.shape;
  shape.insert(shape.begin(), size);
  return at::empty(shape, sample.is_tokens() ? at::kLong : at::kFloat);
}

}  // namespace paretopipe::compute
