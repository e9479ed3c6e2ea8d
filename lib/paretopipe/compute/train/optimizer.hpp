#pragma once
#include <paretopipe/experiment/training.hpp>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::train {

/// What an optimiser remembers of one parameter.
struct ParameterState {
  std::int64_t steps = 0;
  std::vector<at::Tensor> tensors;  ///< sgd: momentum; adam(w): first and second moment; empty before the first step
};

/// Changes `parameter` in place by its gradient. Follows torch.optim's SGD, Adam and AdamW operator for operator, so
/// that results are equal to the last bit; their other settings are at their defaults (betas 0.9 and 0.999, epsilon
/// 1e-8). torch::optim's classes do not do here: each changes the parameters that it was made for, and a pipeline
/// without flushes needs older versions of a parameter beside the new one. `gradient` may be overwritten. Call without
/// autograd.
void update(const experiment::Optimizer& optimizer, at::Tensor parameter, at::Tensor gradient, ParameterState& state);

}  // namespace paretopipe::train
