#pragma once
#include <memory>
#include <unordered_set>

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// An archive as one graph without blocks or mutation: one tensor in, one tensor out, every parameter a constant.
struct PreparedModel {
  std::shared_ptr<torch::jit::Graph> graph;
  std::unordered_set<const void*> learnable;  ///< addresses of the parameters; other constants are buffers
};

/// Rewrites a module, which the caller gives up, until it can be cut. The rewrites change no number, and parameters
/// stay where they are. If the module returns a tuple, its first tensor is used. Throws UsageError that names the
/// operator in the way and its place in the archive's code: control flow, mutation, side effects, randomness, inputs
/// and outputs that are not one tensor. Call under c10::InferenceMode.
PreparedModel prepare(const torch::jit::Module& module);

}  // namespace paretopipe::script
