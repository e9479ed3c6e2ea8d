#pragma once
#include <memory>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// Turns every list that is constructed, read and appended to in a graph without blocks into one list for each state
/// that it has: xs = [a]; f(xs); xs.append(b); g(xs) becomes f([a]); g([a, b]). A list of which anything but its
/// elements may be kept (in another list, as a result) stays as it is. LibTorch's RemoveListMutation leaves lists alone
/// that are read between two appends, as scripted DenseNets do.
void rewrite_list_appends(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace paretopipe::script
