#pragma once
#include <memory>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// Rewrites operators that fill a part of a new tensor in place, as in the masks of shifted windows (`mask[a:b, c:d] =
/// 1`), to operators that return a new tensor with that part. Leaves operators that might change a tensor seen
/// elsewhere.
void rewrite_slice_fills(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace paretopipe::script
