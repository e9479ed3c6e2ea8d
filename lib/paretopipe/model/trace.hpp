#pragma once
#include <paretopipe/model/block.hpp>

#include <memory>

#include <torch/csrc/jit/ir/ir.h>

namespace paretopipe::model {

/// The operators that a layer runs on an input of the example's shape and type, as a graph without mutation whose
/// constants share the layer's weights. Sizes become constants: it is good for that shape only. Runs the layer once.
/// Call under c10::InferenceMode.
std::shared_ptr<torch::jit::Graph> trace(const Layer& layer, const at::Tensor& example);

}  // namespace paretopipe::model
