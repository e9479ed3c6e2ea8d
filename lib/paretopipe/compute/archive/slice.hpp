#pragma once
#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/experiment/compute_mode.hpp>

#include <vector>

#include <torch/csrc/jit/ir/ir.h>

#include "archive_model.hpp"
#include "cuts.hpp"

namespace paretopipe::archive {

/// The operators that compute `end` from `begin`, constants included, in the graph's order.
std::vector<const torch::jit::Node*> nodes_between(const torch::jit::Graph& graph, const Cut& begin, const Cut& end);

/// What a prepared graph computes between two of its cuts, as its own graph: from `begin`, the graph's input or a cut,
/// to `end`, a later cut or the graph's output. It shares the memory of the parameters that it uses, unless the mode
/// has them in another type or order or `own` is given, which then makes copies. It refers to nothing else of `graph`.
compute::Program slice(const torch::jit::Graph& graph, const Cut& begin, const Cut& end,
                       const experiment::ComputeMode& mode = {}, OwnTensors* own = nullptr);

}  // namespace paretopipe::archive
