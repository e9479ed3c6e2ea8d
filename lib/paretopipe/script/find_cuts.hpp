#pragma once
#include <paretopipe/script/cut.hpp>

#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// Finds where the graph can be cut in two, in the order of the computation. Everything that the crossing tensors need
/// is computed before the cut; nothing else of it, nor the input, is used after the cut. Values that do not depend on
/// the input (parameters, constants and what is computed from them) are available on both sides and do not count.
///
/// All cuts that one tensor crosses, through which every path from the input to the output goes, are found. Their order
/// depends only on who uses what, not on the order in which the graph lists its operators. With a `max_crossing` of 2,
/// cuts that exactly two tensors cross are found too, such as the shortcut of a residual block and the value computed
/// beside it; the input can be one of the two. Two such cuts may each compute something that the other does not (in
/// parallel branches). Then the one that computes less is taken, or the one that the graph's order reaches first. What
/// is computed before a cut therefore contains what is computed before all earlier cuts.
///
/// The graph must have one input, one output, no blocks, no mutation, and no operator whose result nobody uses.
std::vector<Cut> find_cuts(torch::jit::Graph& graph, int max_crossing = 1);

}  // namespace paretopipe::script
