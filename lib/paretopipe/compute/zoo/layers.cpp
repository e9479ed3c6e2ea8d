#include "layers.hpp"

#include <cmath>

#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/addmv.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/softmax.h>

namespace paretopipe::zoo {

namespace {

std::array<std::int64_t, 4> weight_shape(const ConvShape& shape) {
  return {shape.out, shape.in / shape.groups, shape.kernel[0], shape.kernel[1]};
}

Layer convolution(const ConvShape& shape, at::Tensor weight, at::Tensor bias) {
  return [shape, weight = std::move(weight), bias = std::move(bias)](at::Tensor x) {
    return at::conv2d(x, weight, bias, shape.stride, shape.padding, /*dilation=*/square(1), shape.groups);
  };
}

}  // namespace

Layer conv2d(const Scope& scope, const ConvShape& shape, Scheme scheme) {
  return convolution(shape, scope.weight(weight_shape(shape), scheme), {});
}

Layer conv2d_with_bias(const Scope& scope, const ConvShape& shape, Scheme scheme) {
  auto weight = scope.weight(weight_shape(shape), scheme);
  auto bias = scope.bias(weight_shape(shape), scheme);
  return convolution(shape, std::move(weight), std::move(bias));
}

Layer batch_norm2d(const Scope& scope, std::int64_t channels, double epsilon) {
  auto weight = scope.constant_parameter("weight", channels, 1);
  auto bias = scope.constant_parameter("bias", channels, 0);
  auto mean = scope.constant_buffer("running_mean", channels, 0);
  auto variance = scope.constant_buffer("running_var", channels, 1);
  auto batches = scope.counter_buffer("num_batches_tracked");
  return [=, training = scope.training()](at::Tensor x) {
    if (training) batches.add_(1);
    return at::batch_norm(x, weight, bias, mean, variance, training, /*momentum=*/0.1, epsilon,
                          /*cudnn_enabled=*/false);
  };
}

Layer linear(const Scope& scope, std::int64_t in, std::int64_t out, Scheme scheme) {
  auto weight = scope.weight({out, in}, scheme);
  auto bias = scope.bias({out, in}, scheme);
  return [weight = std::move(weight), bias = std::move(bias)](at::Tensor x) {
    // A matrix product with one row would first repack the whole weight: 45 ms instead of 15 ms for AlexNet's 9216 x
    // 4096.
    if (x.dim() == 2 && x.size(0) == 1) return at::addmv(bias, weight, x.squeeze(0)).unsqueeze(0);
    return at::linear(x, weight, bias);
  };
}

Layer max_pool2d(const PoolShape& shape) {
  return [shape](at::Tensor x) { return at::max_pool2d(x, shape.kernel, shape.stride, shape.padding); };
}

Layer avg_pool2d(const PoolShape& shape) {
  return [shape](at::Tensor x) { return at::avg_pool2d(x, shape.kernel, shape.stride, shape.padding); };
}

Layer adaptive_avg_pool2d(std::int64_t side) {
  return [side](at::Tensor x) { return at::adaptive_avg_pool2d(x, square(side)); };
}

Layer relu() {
  return [](at::Tensor x) { return x.requires_grad() && x.is_leaf() ? x.relu() : x.relu_(); };
}

Layer relu6() {
  return [](at::Tensor x) { return at::hardtanh_(x, 0.0, 6.0); };
}

Layer dropout(const Scope& scope, double probability) {
  if (!scope.training()) return [](at::Tensor x) { return x; };
  return [probability](at::Tensor x) { return at::dropout(x, probability, /*train=*/true); };
}

Layer flatten() {
  return [](at::Tensor x) { return x.flatten(1); };
}

Layer linear_relu(const Scope& scope, std::int64_t in, std::int64_t out, Scheme scheme) {
  return sequence({linear(scope, in, out, scheme), relu()});
}

Layer pooled_linear(const Scope& scope, std::int64_t in, std::int64_t out, Scheme scheme) {
  return sequence({adaptive_avg_pool2d(1), flatten(), linear(scope, in, out, scheme)});
}

Layer sequence(std::vector<Layer> layers) {
  return [layers = std::move(layers)](at::Tensor x) {
    for (const auto& layer : layers) x = layer(std::move(x));
    return x;
  };
}

Forward chain(std::vector<Forward> blocks) {
  const Forward::OfAll forward = [blocks = std::move(blocks)](compute::Tensors crossing) {
    for (const auto& block : blocks) crossing = block(std::move(crossing));
    return crossing;
  };
  return forward;
}

Layer concat(std::vector<Layer> branches) {
  return [branches = std::move(branches)](at::Tensor x) {
    std::vector<at::Tensor> outputs;
    outputs.reserve(branches.size());
    for (const auto& branch : branches) outputs.push_back(branch(x));
    return at::cat(outputs, 1);
  };
}

Layer layer_norm(const Scope& scope, std::int64_t features, double epsilon) {
  auto weight = scope.constant_parameter("weight", features, 1);
  auto bias = scope.constant_parameter("bias", features, 0);
  return [=](at::Tensor x) { return at::layer_norm(x, {features}, weight, bias, epsilon); };
}

Layer gelu() {
  return [](at::Tensor x) { return at::gelu(x); };
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t heads,
                     const at::Tensor& mask, const Layer& kept) {
  // N x L x D to N x heads x L x d
  const auto by_head = [heads](const at::Tensor& x) {
    return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
  };
  const auto scale = 1 / std::sqrt(static_cast<double>(q.size(2) / heads));
  auto scores = at::matmul(by_head(q).mul(scale), by_head(k).transpose(2, 3));
  if (mask.defined()) scores.add_(mask.view({mask.size(0), 1, 1, mask.size(1)}));
  auto shares = at::softmax(scores, -1);
  if (kept) shares = kept(std::move(shares));
  return at::matmul(shares, by_head(v)).transpose(1, 2).flatten(2);
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

}  // namespace paretopipe::zoo
