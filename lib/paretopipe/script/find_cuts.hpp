#pragma once
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// The values at which the graph can be cut in two, in the order of the computation: tensors through which every path
/// from the input to the output goes. A value is one if nothing else that it was computed from, nor anything else that
/// those operators gave, is used beyond them; what does not depend on the input (parameters, constants, what is made of
/// them) can be had on both sides and does not count. That depends on who uses what, not on the order in which the
/// graph lists its operators. Neither the input nor the output is among them.
///
/// The graph has one input, one output, no blocks, no mutation, and no operator whose result nobody uses.
std::vector<torch::jit::Value*> find_cuts(torch::jit::Graph& graph);

}  // namespace paretopipe::script
