#pragma once
#include <paretopipe/config/compute_mode.hpp>

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/util/SmallVector.h>

namespace torch::jit {
struct Graph;
}

namespace paretopipe::compute {

/// What goes into a graph or a block, or comes out of it: one tensor, or the two that cross a cut, without an
/// allocation for these.
using Tensors = c10::SmallVector<at::Tensor, 2>;

/// A float32 tensor in the mode's type and, with four dimensions, in its memory format; any other as it is. Shares its
/// memory where there is nothing to change.
at::Tensor in_mode(const at::Tensor& tensor, const config::ComputeMode& mode);

/// Of a graph's constant: the tensor that it is, or those of the list that it is.
std::vector<at::Tensor> tensors_in(const c10::IValue& constant);

/// Puts what `replacement` makes of it in the place of every tensor among the graph's constants, also those in lists.
void replace_constants(torch::jit::Graph& graph, const std::function<at::Tensor(const at::Tensor&)>& replacement);

/// in_mode for every tensor among the graph's constants, on that device. The graph's operators stay: one that insists
/// on float32 will refuse its operands when it runs.
void constants_in_mode(torch::jit::Graph& graph, const config::ComputeMode& mode, at::Device device = at::kCPU);

}  // namespace paretopipe::compute
