#include "optimizer.hpp"

#include <cmath>

#include <ATen/ops/zeros_like.h>

namespace paretopipe::train {

namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;

void update_sgd(const experiment::Optimizer& optimizer, at::Tensor& parameter, at::Tensor gradient,
                ParameterState& state) {
  if (optimizer.weight_decay != 0) gradient = gradient.add(parameter, optimizer.weight_decay);
  if (optimizer.momentum != 0) {
    if (state.tensors.empty()) {
      state.tensors.push_back(gradient.clone());
    } else {
      state.tensors[0].mul_(optimizer.momentum).add_(gradient);
    }
    gradient = state.tensors[0];
  }
  parameter.add_(gradient, -optimizer.learning_rate);
}

void update_adam(const experiment::Optimizer& optimizer, at::Tensor& parameter, at::Tensor gradient,
                 ParameterState& state) {
  if (state.tensors.empty()) state.tensors = {at::zeros_like(parameter), at::zeros_like(parameter)};
  const bool decoupled = optimizer.kind == experiment::OptimizerKind::adamw;
  if (optimizer.weight_decay != 0) {
    if (decoupled) {
      parameter.mul_(1 - optimizer.learning_rate * optimizer.weight_decay);
    } else {
      gradient = gradient.add(parameter, optimizer.weight_decay);
    }
  }
  const auto steps = static_cast<double>(state.steps);
  const double correction1 = 1 - std::pow(kBeta1, steps), correction2 = 1 - std::pow(kBeta2, steps);
  auto& first = state.tensors[0].mul_(kBeta1).add_(gradient, 1 - kBeta1);
  auto& second = state.tensors[1].mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const auto denominator = second.sqrt().div(std::sqrt(correction2)).add_(kEpsilon);
  parameter.addcdiv_(first, denominator, -optimizer.learning_rate / correction1);
}

}  // namespace

void update(const experiment::Optimizer& optimizer, at::Tensor parameter, at::Tensor gradient, ParameterState& state) {
  ++state.steps;
  if (optimizer.kind == experiment::OptimizerKind::sgd) {
    update_sgd(optimizer, parameter, std::move(gradient), state);
  } else {
    update_adam(optimizer, parameter, std::move(gradient), state);
  }
}

}  // namespace paretopipe::train
