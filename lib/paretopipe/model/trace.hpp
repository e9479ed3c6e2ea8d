#pragma once
#include <paretopipe/model/block.hpp>

#include <memory>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::model {

/// Records the operators that run on inputs with the examples' shapes and types, as a graph without mutation. Its
/// constants share the weights. Sizes become constants, so the graph is valid only for those shapes. Runs `forward`
/// once. Call under c10::InferenceMode.
std::shared_ptr<torch::jit::Graph> trace(const Forward& forward, const compute::Tensors& examples);

}  // namespace paretopipe::model
