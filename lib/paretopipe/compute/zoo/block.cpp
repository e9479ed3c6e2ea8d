#include "block.hpp"

#include <paretopipe/compute/torch/samples.hpp>

#include <cmath>
#include <span>

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

namespace paretopipe::zoo {

namespace {

/// The number of inputs that one output element depends on.
std::int64_t fan_in(at::IntArrayRef weight_shape) {
  return c10::multiply_integers(weight_shape) / weight_shape.front();
}

/// PyTorch's definition, which does not divide by the number of groups of a grouped convolution.
std::int64_t fan_out(at::IntArrayRef weight_shape) {
  return c10::multiply_integers(weight_shape) / weight_shape[1];
}

double weight_variance(Scheme scheme, at::IntArrayRef shape) {
  switch (scheme) {
    case Scheme::pytorch_default:
      return 1.0 / (3.0 * static_cast<double>(fan_in(shape)));
    case Scheme::he_fan_in:
      return 2.0 / static_cast<double>(fan_in(shape));
    case Scheme::he_fan_out:
      return 2.0 / static_cast<double>(fan_out(shape));
    case Scheme::bert:
      return 0.02 * 0.02;
    case Scheme::small:
      return 0.01 * 0.01;
  }
  return 0;
}

}  // namespace

Scope Scope::operator/(std::string_view child) const {
  Scope scope = *this;
  scope.prefix_.append(child).append(".");
  return scope;
}

at::Tensor Scope::weight(at::IntArrayRef shape, Scheme scheme) const {
  return uniform("weight", shape, std::sqrt(3.0 * weight_variance(scheme, shape)));
}

at::Tensor Scope::bias(at::IntArrayRef weight_shape, Scheme scheme) const {
  const auto size = weight_shape.front();
  if (scheme != Scheme::pytorch_default) return constant_parameter("bias", size, 0);
  return uniform("bias", {size}, 1.0 / std::sqrt(static_cast<double>(fan_in(weight_shape))));
}

at::Tensor Scope::parameter(std::string_view name, at::IntArrayRef shape, double deviation) const {
  return uniform(name, shape, std::sqrt(3.0) * deviation);
}

at::Tensor Scope::constant_parameter(std::string_view name, std::int64_t size, float value) const {
  return filled(name, size, value, true);
}

at::Tensor Scope::constant_buffer(std::string_view name, std::int64_t size, float value) const {
  return filled(name, size, value, false);
}

at::Tensor Scope::counter_buffer(std::string_view name) const {
  return given_ != nullptr ? next_given() : add(name, at::zeros({}, at::kLong), false);
}

at::Tensor Scope::filled(std::string_view name, std::int64_t size, float value, bool learnable) const {
  return given_ != nullptr ? next_given() : add(name, at::full({size}, value, at::kFloat), learnable);
}

at::Tensor Scope::next_given() const {
  auto tensor = given_->front();
  *given_ = given_->subspan(1);
  return tensor;
}

at::Tensor Scope::uniform(std::string_view name, at::IntArrayRef shape, double bound) const {
  if (given_ != nullptr) return next_given();
  auto tensor = at::zeros(shape, at::kFloat);
  if (seed_) {
    const std::span values(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
    compute::fill_uniform(values, compute::sequence_key(*seed_, model_, prefix_ + std::string(name)),
                          static_cast<float>(bound));
  }
  return add(name, std::move(tensor), true);
}

at::Tensor Scope::add(std::string_view name, at::Tensor tensor, bool learnable) const {
  tensor = compute::in_mode(tensor, mode_);
  tensors_->push_back({prefix_ + std::string(name), tensor, learnable});
  return tensor;
}

BlockPlan named_block(std::string name, std::function<Forward(const Scope&)> build) {
  auto in_own_scope = [name, build = std::move(build)](const Scope& root) { return build(root / name); };
  return {std::move(name), std::move(in_own_scope)};
}

void add_feature(std::vector<BlockPlan>& plan, std::function<Forward(const Scope&)> build) {
  plan.push_back(named_block(fmt::format("features.{}", plan.size()), std::move(build)));
}

std::int64_t Block::parameters() const {
  std::int64_t count = 0;
  for (const auto& entry : tensors) count += entry.learnable ? entry.tensor.numel() : 0;
  return count;
}

std::int64_t Block::parameter_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& entry : tensors) bytes += static_cast<std::int64_t>(entry.tensor.nbytes());
  return bytes;
}

Block build_block(std::string_view model, const BlockPlan& plan, std::optional<std::uint64_t> seed,
                  const experiment::ComputeMode& mode) {
  Block block{plan.name, {}, {}};
  block.forward = plan.build(Scope(model, seed, mode, block.tensors));
  return block;
}

train::TrainableBlock trainable(Block block, std::string_view model, const BlockPlan& plan) {
  return {std::move(block.tensors), [model, build = plan.build](std::span<const at::Tensor> tensors) -> train::Run {
            return build(Scope(model, tensors));
          }};
}

}  // namespace paretopipe::zoo
