#pragma once
#include <memory>

#include <torch/csrc/jit/ir/ir.h>

// Rewrites of what LibTorch's own passes leave: code that changes lists and new tensors in place.
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

}  // namespace paretopipe::archive
