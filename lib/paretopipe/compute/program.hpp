#pragma once
#include <paretopipe/compute/in_mode.hpp>

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

namespace paretopipe::compute {

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

  torch::jit::Graph& graph() const { return *graph_; }

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  torch::jit::Code code_;
};

}  // namespace paretopipe::compute
