#pragma once
#include <memory>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// Rewrites what fills a part of a new tensor in place, as the masks of shifted windows are made (`mask[a:b, c:d] =
/// 1`), to operators that give a new tensor with that part. Leaves alone what might change a tensor that is seen
/// elsewhere.
void rewrite_slice_fills(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace paretopipe::script
