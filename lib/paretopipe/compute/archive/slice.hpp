#pragma once
#include <paretopipe/compute/torch/program.hpp>
#include <paretopipe/experiment/compute_mode.hpp>

#include <memory>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

#include "archive_model.hpp"
#include "cuts.hpp"

namespace paretopipe::archive {

/// The operators that compute `end` from `begin`, constants included, in the graph's order.
std::vector<const torch::jit::Node*> nodes_between(const torch::jit::Graph& graph, const Cut& begin, const Cut& end);

/// What a prepared graph computes between two of its cuts, as its own graph. It shares the memory of the parameters
/// that it uses, unless the mode has them in another type or order, and refers to nothing else of the original graph.
class Slice : public compute::Program {
 public:
  /// Spans from `begin`, the graph's input or a cut, to `end`, a later cut or the graph's output. If `own` is given, it
  /// makes the parameters' copies.
  Slice(const torch::jit::Graph& graph, const Cut& begin, const Cut& end, const experiment::ComputeMode& mode = {},
        OwnTensors* own = nullptr);
};

/// Joins the slices' operators, one slice after the other, in a new graph, which shares the memory of their parameters.
std::shared_ptr<torch::jit::Graph> join(const std::vector<const Slice*>& slices);

}  // namespace paretopipe::archive
