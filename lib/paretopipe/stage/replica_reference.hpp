#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/training_messages.hpp>

namespace paretopipe::stage {

/// Trains all replicas in this process. The result is what every replica's weights must be after the same steps, to the
/// last bit. Each replica computes its own share of every step and takes the sum of all gradients, which are added in
/// the order of the replicas. Running statistics are each replica's own, so the digests are of all blocks of the first
/// replica, then of the second, and so on. Throws as compute_training_reference() does.
TrainingReference train_replicas_in_one_process(const ComputeTrainingReference& request, Backend& backend);

}  // namespace paretopipe::stage
