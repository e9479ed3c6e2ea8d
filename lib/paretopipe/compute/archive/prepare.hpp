#pragma once
#include <paretopipe/compute/torch/named_tensor.hpp>

#include <memory>
#include <unordered_set>
#include <vector>

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::archive {

/// What a model's graph is for. One that is to be trained computes as after Module.train(), even if it was traced in
/// evaluation: batch norms use a batch's own statistics, and dropouts drop.
enum class Use { to_infer, to_train };

/// An archive as one graph without blocks or mutation: one tensor in, one tensor out, every parameter a constant.
struct PreparedModel {
  std::shared_ptr<torch::jit::Graph> graph;
  std::unordered_set<const void*> learnable;  ///< addresses of the parameters; other constants are buffers
  std::vector<compute::NamedTensor> state{};  ///< StateInputs::tensors; empty unless it is to be trained
};

/// Rewrites a module, which the caller gives up, until it can be cut. The rewrites change no number, and parameters
/// stay where they are. If the module returns a tuple, its first tensor is used. Throws UsageError that names the
/// operator in the way and its place in the archive's code: control flow, mutation, side effects, randomness (other
/// than a dropout's, if it is to be trained), inputs and outputs that are not one tensor, and weights that cannot be
/// trained. Call under c10::InferenceMode.
PreparedModel prepare(const torch::jit::Module& module, Use use = Use::to_infer);

}  // namespace paretopipe::archive
