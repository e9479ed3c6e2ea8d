#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/model/zoo.hpp>

namespace paretopipe::model {

/// Describes the chain by running it once, in eager mode with the request's type and memory format, on one input of
/// zeros. It holds one block in memory at a time. Everything except parameters is proportional to the batch, so the
/// batch dimension is scaled afterwards. Call under c10::InferenceMode. Throws UsageError for a batch or a number of
/// classes below 1.
config::ModelDescription describe_model(const Model& model, std::int64_t num_classes, int batch,
                                        const config::ComputeMode& mode = {});

}  // namespace paretopipe::model
