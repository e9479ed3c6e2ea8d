#pragma once
#include <memory>
#include <unordered_set>

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::archive {

/// Replaces every list that is constructed, read and appended to in a graph without blocks by one list for each of its
/// states: xs = [a]; f(xs); xs.append(b); g(xs) becomes f([a]); g([a, b]). A list stays as it is if anything but its
/// elements may be kept (in another list, as a result). LibTorch's RemoveListMutation does not handle lists that are
/// read between two appends, as in scripted DenseNets.
void rewrite_list_appends(const std::shared_ptr<torch::jit::Graph>& graph);

/// Rewrites operators that fill a part of a new tensor in place, as in the masks of shifted windows (`mask[a:b, c:d] =
/// 1`), to operators that return a new tensor with that part. Leaves operators that might change a tensor seen
/// elsewhere.
void rewrite_slice_fills(const std::shared_ptr<torch::jit::Graph>& graph);

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

}  // namespace paretopipe::archive
