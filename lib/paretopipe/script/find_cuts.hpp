#pragma once
#include <paretopipe/script/cut.hpp>

#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// Where the graph can be cut in two, in the order of the computation. What is computed before a cut is whatever the
/// tensors that cross it need; nothing else of it, nor the input, is used beyond. What does not depend on the input
/// (parameters, constants, what is made of them) can be had on both sides and does not count.
///
/// Cuts that one tensor crosses, through which every path from the input to the output goes, are all found, in one
/// order: that depends on who uses what, not on the order in which the graph lists its operators. With a `max_crossing`
/// of 2, cuts that exactly two tensors cross are found too, such as the shortcut of a residual block and what lies
/// beside it; the input can be one of the two. Of two such cuts, each may compute what the other does not (in branches
/// beside each other): then the one that computes less is taken, or the one that the graph's order comes to first. What
/// is computed before each cut therefore contains what is computed before all earlier ones.
///
/// The graph has one input, one output, no blocks, no mutation, and no operator whose result nobody uses.
std::vector<Cut> find_cuts(torch::jit::Graph& graph, int max_crossing = 1);

}  // namespace paretopipe::script
