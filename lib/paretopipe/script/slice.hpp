#pragma once
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

namespace paretopipe::script {

/// The operators that compute `end` from `begin`, constants included, in the graph's order.
std::vector<const torch::jit::Node*> nodes_between(const torch::jit::Graph& graph, const torch::jit::Value* begin,
                                                   const torch::jit::Value* end);

/// What a prepared graph computes between two of its cuts, as a graph of its own. It shares the numbers of the
/// parameters that it uses, and refers to nothing else of the graph that it was cut from. Runs operator by operator, as
/// it stands: nothing is fused or reordered.
class Slice {
 public:
  /// From `begin`, the graph's input or a cut, to `end`, a later cut or the graph's output.
  Slice(const torch::jit::Graph& graph, const torch::jit::Value* begin, const torch::jit::Value* end);

  /// Call under c10::InferenceMode. Throws what LibTorch throws where an operator does not like its operands.
  at::Tensor run(at::Tensor input) const;

  /// The tensors among its constants: parameters, buffers, and what was computed of them beforehand.
  std::vector<at::Tensor> tensors() const;

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  torch::jit::Code code_;
};

}  // namespace paretopipe::script
