#pragma once
#include <paretopipe/config/compute_mode.hpp>

#include <cstdint>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::script {

/// A value of the graph as it was for one batch.
struct Measured {
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
  bool sendable = false;                  ///< of the mode's type, dense in its order, not empty
  std::int64_t multiply_accumulates = 0;  ///< from the value before it to this one
};

/// Computes the graph on zeros, from one value to the next, with the mode's type and memory format. `values` are cuts
/// in their order, the last is the output. Call under c10::InferenceMode. Throws what LibTorch throws where an operator
/// does not like its operands.
std::vector<Measured> measure(const torch::jit::Graph& graph, const std::vector<const torch::jit::Value*>& values,
                              const std::vector<std::int64_t>& input_shape, const config::ComputeMode& mode);

}  // namespace paretopipe::script
