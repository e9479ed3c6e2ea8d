#include <paretopipe/model/transformer.hpp>

#include <cmath>

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

namespace paretopipe::model {

Layer layer_norm(const Scope& scope, std::int64_t features, double epsilon) {
  auto weight = scope.constant_parameter("weight", features, 1);
  auto bias = scope.constant_parameter("bias", features, 0);
  return [=](at::Tensor x) { return at::layer_norm(x, {features}, weight, bias, epsilon); };
}

Layer gelu() {
  return [](at::Tensor x) { return at::gelu(x); };
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     const at::Tensor& mask) {
  // N x L x D to N x heads x L x d
  const auto by_head = [heads](const at::Tensor& x) {
    return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
  };
  const auto scale = 1 / std::sqrt(static_cast<double>(q.size(2) / heads));
  auto scores = at::matmul(by_head(q).mul(scale), by_head(k).transpose(2, 3));
  if (mask.defined()) scores.add_(mask.view({mask.size(0), 1, 1, mask.size(1)}));
  return at::matmul(at::softmax(scores, -1), by_head(v)).transpose(1, 2).flatten(2);
}

Layer self_attention(const Scope& scope, std::int64_t features, std::int64_t heads) {
  // Xavier's variance (Glorot and Bengio, 2010) for one of the three matrices, as in torch.nn.
  auto in_weight = scope.parameter("in_proj_weight", {3 * features, features}, std::sqrt(1.0 / features));
  auto in_bias = scope.constant_parameter("in_proj_bias", 3 * features, 0);
  auto out = linear(scope / "out_proj", features, features, Scheme::pytorch_default);
  return [=](at::Tensor x) {
    const auto parts = at::linear(x, in_weight, in_bias).chunk(3, -1);
    return out(attention(parts[0], parts[1], parts[2], heads));
  };
}

}  // namespace paretopipe::model
