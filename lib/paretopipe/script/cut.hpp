#pragma once
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// The tensors that cross a cut, in the order in which the graph computes them.
using Cut = std::vector<const torch::jit::Value*>;

}  // namespace paretopipe::script
