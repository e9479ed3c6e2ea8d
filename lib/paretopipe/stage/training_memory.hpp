#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/experiment/training_memory.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/training_messages.hpp>

#include <string_view>
#include <vector>

namespace paretopipe::stage {

/// Asks what each part of a model takes for training. One process with all parts trains two micro-batches twice, and
/// counts the second time, when the optimiser has its state.
struct MeasureTraining {
  static constexpr std::string_view kType = "measure_training";
  TrainingTask task;
  std::vector<experiment::BlockRange> parts;
};
PARETOPIPE_JSON(MeasureTraining, task, parts)

struct TrainingMeasured {
  static constexpr std::string_view kType = "training_measured";
  std::vector<experiment::PartMemory> parts;
};
PARETOPIPE_JSON(TrainingMeasured, parts)

/// Throws wire::ProtocolError for a request without parts or with other than two micro-batches, and what the backend
/// throws.
TrainingMeasured measure_training(const MeasureTraining& request, Backend& backend);

}  // namespace paretopipe::stage
