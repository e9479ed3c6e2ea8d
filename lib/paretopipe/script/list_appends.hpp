#pragma once
#include <memory>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// Replaces every list that is constructed, read and appended to in a graph without blocks by one list for each of its
/// states: xs = [a]; f(xs); xs.append(b); g(xs) becomes f([a]); g([a, b]). A list stays as it is if anything but its
/// elements may be kept (in another list, as a result). LibTorch's RemoveListMutation does not handle lists that are
/// read between two appends, as in scripted DenseNets.
void rewrite_list_appends(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace paretopipe::script
