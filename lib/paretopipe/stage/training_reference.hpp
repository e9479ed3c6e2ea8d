#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/training_messages.hpp>

namespace paretopipe::stage {

/// Trains in this process alone. The result is what every stage's weights must be after the same steps, to the last
/// bit. Throws wire::ProtocolError for an impossible request, UsageError for a loss that is not finite, and what the
/// backend throws.
TrainingReference compute_training_reference(const ComputeTrainingReference& request, Backend& backend);

/// Throws UsageError unless the loss is a number: the training diverged. Steps count from 0.
void check_loss(double loss, std::size_t step);

}  // namespace paretopipe::stage
