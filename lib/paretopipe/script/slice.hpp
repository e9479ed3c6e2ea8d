#pragma once
#include <paretopipe/compute/program.hpp>
#include <paretopipe/config/compute_mode.hpp>
#include <paretopipe/script/cut.hpp>
#include <paretopipe/script/own_tensors.hpp>

#include <memory>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// The operators that compute `end` from `begin`, constants included, in the graph's order.
std::vector<const torch::jit::Node*> nodes_between(const torch::jit::Graph& graph, const Cut& begin, const Cut& end);

/// What a prepared graph computes between two of its cuts, as a graph of its own. It shares the numbers of the
/// parameters that it uses, unless the mode has them in another type or order, and refers to nothing else of the graph
/// that it was cut from.
class Slice : public compute::Program {
 public:
  /// From `begin`, the graph's input or a cut, to `end`, a later cut or the graph's output. With `own`, the numbers are
  /// what that makes of them.
  Slice(const torch::jit::Graph& graph, const Cut& begin, const Cut& end, const config::ComputeMode& mode = {},
        OwnTensors* own = nullptr);
};

/// The slices' operators one after the other in a graph of its own, which shares the numbers of their parameters.
std::shared_ptr<torch::jit::Graph> join(const std::vector<const Slice*>& slices);

}  // namespace paretopipe::script
