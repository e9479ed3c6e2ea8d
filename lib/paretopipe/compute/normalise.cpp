#include <paretopipe/compute/normalise.hpp>

#include <ATen/ops/tensor.h>

namespace paretopipe::compute {

at::Tensor normalise(const at::Tensor& images) {
  const auto mean = at::tensor({0.485F, 0.456F, 0.406F}).view({1, 3, 1, 1});
  const auto deviation = at::tensor({0.229F, 0.224F, 0.225F}).view({1, 3, 1, 1});
  return images.sub(mean).div_(deviation);  // a single grey channel broadcasts to three
}

}  // namespace paretopipe::compute
