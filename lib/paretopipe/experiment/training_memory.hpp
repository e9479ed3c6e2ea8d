#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/experiment/schedule.hpp>

#include <cstdint>
#include <span>

#include <nlohmann/json.hpp>

namespace paretopipe::experiment {

/// What a stage's blocks take for training, in bytes. `most_…` is the most that lives at once during an action, in
/// addition to what lived before it. It includes the action's results.
struct PartMemory {
  std::int64_t parameters = 0;  ///< and buffers, in one version
  std::int64_t optimizer = 0;   ///< state of the optimiser
  std::int64_t gradients = 0;   ///< as much as the weights that learn, in one version
  std::int64_t stashed = 0;     ///< for a micro-batch between its forward and its backward, with its input
  std::int64_t most_forward = 0;
  std::int64_t most_first_backward = 0;  ///< after an update: it makes the gradients
  std::int64_t most_backward = 0;
  std::int64_t most_update = 0;

  bool operator==(const PartMemory&) const = default;
};
PARETOPIPE_JSON(PartMemory, parameters, optimizer, gradients, stashed, most_forward, most_first_backward, most_backward,
                most_update)

/// What a stage will hold, as a trial counts it.
struct StageNeed {
  int in_flight = 0;      ///< micro-batches
  int versions = 1;       ///< of the weights
  std::int64_t peak = 0;  ///< weights, optimiser, and what else lives at the worst moment
};

/// Plays what a stage does, with the memory that each action takes and leaves. Pure.
StageNeed predict_memory(std::span<const Action> actions, const PartMemory& part);

}  // namespace paretopipe::experiment
