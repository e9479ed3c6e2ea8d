#pragma once
#include <memory>
#include <unordered_set>

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// An archive as one graph without blocks and mutation: one tensor in, one tensor out, every parameter a constant.
struct PreparedModel {
  std::shared_ptr<torch::jit::Graph> graph;
  std::unordered_set<const void*> learnable;  ///< where the parameters' numbers are; other constants are buffers
};

/// Rewrites a module, which the caller gives up, until it can be cut. Nothing that is rewritten changes a number, and
/// parameters stay where they are. Of a tuple that the module returns, the first tensor counts. Call under
/// c10::InferenceMode. Throws UsageError that names the operator which is in the way, and where it stands in the
/// archive's code: control flow, mutation, side effects, randomness, inputs and outputs that are not one tensor.
PreparedModel prepare(const torch::jit::Module& module);

}  // namespace paretopipe::script
