#pragma once
#include <paretopipe/experiment/compute_mode.hpp>

#include <memory>

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>

#include "program.hpp"

namespace paretopipe::compute {

/// Rewrites a graph in place into what a deployment would run; its result differs by roundings. The graph must be one
/// that Program accepts, without control-flow blocks or mutation, in float32 and with its parameters as constants.
/// Afterwards it accepts inputs like `examples`, which are in the mode and on the device that will compute it:
///   - Batch norms, and whatever else scales and shifts a convolution's result, are folded into the convolution's
///     weights.
///   - Parameters and activations take the mode's type and memory format, and parameters move to the device.
///   - On the CPU, in float32 and contiguous, convolutions and the operators between them use oneDNN's blocked layouts,
///     as in torch.jit.optimize_for_inference. Pools outside of these layouts run pixel by pixel. A wide convolution
///     with a stride is padded beforehand, because it would otherwise leave these layouts. What oneDNN computes
///     otherwise, or not at all, stays dense.
///   - Matrix products with one row, which would repack the whole weight, become products with a vector.
/// Call under c10::InferenceMode.
void optimise(std::shared_ptr<torch::jit::Graph>& graph, const Tensors& examples, const experiment::ComputeMode& mode);

/// Does only the second of these steps. The operators stay, and compute on the device what they would compute on the
/// host, except for the order of sums.
void place(std::shared_ptr<torch::jit::Graph>& graph, const experiment::ComputeMode& mode, at::Device device);

}  // namespace paretopipe::compute
