#pragma once
#include <paretopipe/stage/replicas.hpp>
#include <paretopipe/stage/stage_loops.hpp>
#include <paretopipe/stage/training_data.hpp>
#include <paretopipe/stage/training_messages.hpp>
#include <paretopipe/stage/training_part.hpp>

#include <cstddef>
#include <memory>

namespace paretopipe::stage {

/// A stage's part of a training, from its first step on.
struct TrainingStage {
  PrepareTraining asked;
  std::unique_ptr<TrainingPart> part;
  TrainingData data;
  std::size_t steps_done = 0;
  std::int64_t updates_done = 0;

  bool first() const { return asked.stage == 0; }
  bool last() const { return asked.stage + 1 == asked.stage_count; }

  /// The first of a step's micro-batches that are this replica's.
  int first_micro_batch() const { return asked.replica * asked.task.micro_batches_each(); }
};

/// `inputs` are the tensors that followed the request. Throws wire::ProtocolError for an impossible request, and what
/// the backend throws. Releases the backend's blocks.
TrainingStage prepare_training(const PrepareTraining& request, std::vector<Activation> inputs, Backend& backend);

/// Replaces what the coming steps learn from.
void take_data(const TakeTrainingData& request, TrainingStage& stage, Backend& backend);

/// The links of a stage: activations come from the previous stage and go to the next one; gradients the other way
/// round, so that `gradients.previous` is a link from the next stage. Null at the ends of the pipeline.
struct TrainingLinks {
  Neighbours activations{};
  Neighbours gradients{};
};

/// Trains for the request's steps as the schedule has it and reports the moments. The calling thread computes; for each
/// link a thread receives or sends. A replica has no links but `replicas`, which is null for every other stage. Neither
/// sending nor a neighbour that is late to receive ever holds the computing thread up: queues have room for as many
/// micro-batches as the schedule lets be in flight. Throws the first error of any thread, after shutting all links
/// down; the links are then unusable, and so is the stage.
TrainReport run_training(const Train& request, TrainingStage& stage, Backend& backend, TrainingLinks links,
                         Progress* progress = nullptr, AllReduce* replicas = nullptr);

}  // namespace paretopipe::stage
