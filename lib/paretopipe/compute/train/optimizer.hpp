#pragma once
#include <paretopipe/experiment/training.hpp>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::train {

/// What an optimiser remembers of one parameter.
struct ParameterState {
  std::int64_t steps = 0;
  std::vector<at::Tensor> tensors;  ///< sgd: the momentum; adam and adamw: first and second moment; empty before
};

/// Changes `parameter` in place by its gradient, with the formulas of torch.optim's SGD, Adam and AdamW (their other
/// settings at their defaults: betas 0.9 and 0.999, epsilon 1e-8), operator for operator, so that results are equal to
/// the last bit. torch::optim's classes do the same in place only, and a pipeline without flushes needs older versions
/// of a parameter beside the new one. `gradient` may be overwritten. Call without autograd.
void update(const experiment::Optimizer& optimizer, at::Tensor parameter, at::Tensor gradient, ParameterState& state);

}  // namespace paretopipe::train
