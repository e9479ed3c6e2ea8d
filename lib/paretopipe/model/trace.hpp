#pragma once
#include <paretopipe/model/block.hpp>

#include <memory>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::model {

/// The operators that run on inputs of the examples' shapes and types, as a graph without mutation whose constants
/// share the weights. Sizes become constants: it is good for those shapes only. Runs `forward` once. Call under
/// c10::InferenceMode.
std::shared_ptr<torch::jit::Graph> trace(const Forward& forward, const compute::Tensors& examples);

}  // namespace paretopipe::model
