#pragma once
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

namespace paretopipe::compute {

/// A graph of one tensor in and one tensor out, ready to run as it stands, operator by operator: nothing is fused or
/// reordered behind one's back. Copies share everything.
class Program {
 public:
  explicit Program(std::shared_ptr<torch::jit::Graph> graph);

  /// Call under c10::InferenceMode. Throws what LibTorch throws where an operator does not like its operands.
  at::Tensor run(at::Tensor input) const;

  /// The tensors among its constants: parameters, buffers, and what was computed of them beforehand.
  std::vector<at::Tensor> tensors() const;

  torch::jit::Graph& graph() const { return *graph_; }

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  torch::jit::Code code_;
};

}  // namespace paretopipe::compute
