#pragma once
#include <string>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

#include "node_names.hpp"

namespace paretopipe::archive {

/// The tensors that cross a cut, in the order in which the graph computes them.
using Cut = std::vector<const torch::jit::Value*>;

/// Finds where the graph can be cut in two, in the order of the computation. Everything that the crossing tensors need
/// is computed before the cut; nothing else of it, nor the input, is used after the cut. Values that do not depend on
/// the input (parameters, constants and what is computed from them) are available on both sides and do not count.
///
/// All cuts that one tensor crosses are found: every path from the input to the output goes through this tensor. Their
/// order depends only on who uses what, not on the order in which the graph lists its operators. With a `max_crossing`
/// of 2, cuts that exactly two tensors cross are found too, such as the shortcut of a residual block and the value
/// computed beside it; the input can be one of the two. Two such cuts may each compute something that the other does
/// not (in parallel branches). Then the one that computes less is taken, or the one that the graph's order reaches
/// first. What is computed before a cut therefore contains what is computed before all earlier cuts.
///
/// The graph must have one input, one output, no blocks, no mutation, and no operator whose result nobody uses.
std::vector<Cut> find_cuts(torch::jit::Graph& graph, int max_crossing = 1);

/// Chooses from `cuts`, which are in find_cuts' order, by `selection`:
///   all      every cut
///   unit     leaves out cuts inside a unit that implementations compute in one go: a convolution or matrix product,
///            the batch norm after it, and the activation after these or after a sum. Keeps only the first of a tensor
///            and its views, whose bytes are the same.
///   modules  the results of the top module's children
///   PATTERN  cuts that match a shell pattern (fnmatch(3), where * also matches dots): the name of the operator, or of
///            a module whose result the value is
/// With unit and modules, a cut that two tensors cross is chosen only if both meet the condition. A pattern must match
/// the tensor that is computed last, or label_of the cut. Throws UsageError for a pattern that matches no cut.
std::vector<Cut> choose_cuts(const std::vector<Cut>& cuts, const std::string& selection, const NodeNames& names);

/// Names the operators whose results cross: "layer1.0.relu", "maxpool + layer1.0.relu".
std::string label_of(const Cut& cut, const NodeNames& names);

}  // namespace paretopipe::archive
