#pragma once
#include <paretopipe/experiment/compute_mode.hpp>

#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

namespace paretopipe::compute {

/// Inputs or outputs of a graph or a block. One tensor, or the two that cross a cut, need no allocation.
using Tensors = c10::SmallVector<at::Tensor, 2>;

/// Converts a float32 tensor to the mode's type and, if it has four dimensions, to its memory format; returns any other
/// tensor as it is. The result shares the tensor's memory if nothing has to change.
at::Tensor in_mode(const at::Tensor& tensor, const experiment::ComputeMode& mode);

/// The graph's operators for which `chosen` is true, in order. They may then be replaced or removed one by one.
std::vector<torch::jit::Node*> nodes_where(torch::jit::Graph& graph, bool (*chosen)(const torch::jit::Node*));

/// Replaces every tensor among the graph's constants, also those in lists, by the result of `replacement`.
void replace_constants(torch::jit::Graph& graph, const std::function<at::Tensor(const at::Tensor&)>& replacement);

/// Applies in_mode to every tensor among the graph's constants and moves it to the device. The graph's operators stay:
/// one that insists on float32 will refuse its operands when it runs.
void constants_in_mode(torch::jit::Graph& graph, const experiment::ComputeMode& mode, at::Device device = at::kCPU);

/// A graph from tensors to tensors, run exactly as it stands, operator by operator: nothing is fused or reordered.
/// Copies share everything.
class Program {
 public:
  explicit Program(std::shared_ptr<torch::jit::Graph> graph);

  /// Takes one tensor per input of the graph and returns one per output. Call under c10::InferenceMode. Throws what
  /// LibTorch throws if an operator refuses its operands.
  Tensors run(Tensors inputs) const;

  /// The tensors among its constants: parameters, buffers, and what was precomputed from them.
  std::vector<at::Tensor> tensors() const;

  const std::shared_ptr<torch::jit::Graph>& graph() const { return graph_; }

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  torch::jit::Code code_;
};

}  // namespace paretopipe::compute
