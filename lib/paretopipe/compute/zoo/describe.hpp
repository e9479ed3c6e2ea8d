#pragma once
#include <paretopipe/experiment/model_description.hpp>

#include <memory>

#include <torch/csrc/jit/ir/ir.h>

#include "block.hpp"
#include "zoo.hpp"

namespace paretopipe::zoo {

/// Describes the chain by running it once, in eager mode with the request's type and memory format, on one input of
/// zeros. It holds one block in memory at a time. Everything except parameters is proportional to the batch, so the
/// batch dimension is scaled afterwards. Call under c10::InferenceMode. Throws UsageError for a batch or a number of
/// classes below 1.
experiment::ModelDescription describe_model(const Model& model, std::int64_t num_classes, int batch,
                                            const experiment::ComputeMode& mode = {});

/// Records the operators that run on inputs with the examples' shapes and types, as a graph without mutation. Its
/// constants share the weights. Sizes become constants, so the graph is valid only for those shapes. Runs `forward`
/// once. Call under c10::InferenceMode.
std::shared_ptr<torch::jit::Graph> trace(const Forward& forward, const compute::Tensors& examples);

}  // namespace paretopipe::zoo
