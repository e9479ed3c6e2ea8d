#pragma once
#include <paretopipe/compute/program.hpp>
#include <paretopipe/config/compute_mode.hpp>

#include <memory>

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::compute {

/// Rewrites a graph, in place, to what a deployment would run; its result differs by roundings. The graph is one of
/// Program's, without blocks and mutation, in float32 and with its parameters among its constants. It is then good for
/// inputs like `examples`, which are in the mode and on the device that is to compute it:
///   - batch norms, and what else scales and shifts a convolution's result, go into the convolution's weights;
///   - parameters and activations take the mode's type and memory format, and parameters go to the device;
///   - in float32 and contiguous on the CPU, convolutions and what lies between them run on oneDNN's blocked layouts,
///     as torch.jit.optimize_for_inference has it; pools outside of these layouts go pixel by pixel, and a wide
///     convolution with steps gets its padding beforehand, or it would run outside of them too;
///   - matrix products with one row, which repack the whole weight for it, become products with a vector.
/// Call under c10::InferenceMode.
void optimise(std::shared_ptr<torch::jit::Graph>& graph, const Tensors& examples, const config::ComputeMode& mode);

/// Of the above only the second: operators stay as they are, and compute on the device what they would on the host, but
/// for the order of sums.
void place(std::shared_ptr<torch::jit::Graph>& graph, const config::ComputeMode& mode, at::Device device);

}  // namespace paretopipe::compute
