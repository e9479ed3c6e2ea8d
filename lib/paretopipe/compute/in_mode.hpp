#pragma once
#include <paretopipe/config/compute_mode.hpp>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace torch::jit {
struct Graph;
}

namespace paretopipe::compute {

/// A float32 tensor in the mode's type and, with four dimensions, in its memory format; any other as it is. Shares its
/// memory where there is nothing to change.
at::Tensor in_mode(const at::Tensor& tensor, const config::ComputeMode& mode);

/// The same for every tensor among the graph's constants, on that device. The graph's operators stay: one that insists
/// on float32 will refuse its operands when it runs.
void constants_in_mode(torch::jit::Graph& graph, const config::ComputeMode& mode, at::Device device = at::kCPU);

}  // namespace paretopipe::compute
