#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/source.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace paretopipe::stage {

/// The results of a run.
struct RunOutcome {
  RunReport report;
  std::vector<Activation> last_batch{};  ///< only at the source: the micro-batches of the last result
};

/// The memory of a stage's tensors: the same in every run of the same blocks, however fast the links are.
struct TensorNeeds {
  std::int64_t buffers = 0;    ///< for received tensors
  std::int64_t computing = 0;  ///< peak of what is allocated while a micro-batch is computed
  std::int64_t result = 0;     ///< what is left of that after computing
  std::size_t waiting = 0;     ///< results that may wait for the link while the next micro-batch is computed

  /// Records that a micro-batch was computed and encoded since `watch` began.
  void computed(const TensorWatch& watch);

  /// This together with the memory of the stage's blocks; nothing if the backend does not count.
  host::StageMemory with(const std::optional<host::StageMemory>& blocks) const;
};

/// Calls `run` and reports the resources that this process used meanwhile and still holds.
RunOutcome observe(const Backend& backend, const std::function<void()>& run);

/// Adds the moments of a finished run, phase by phase, and the source's findings. `source` is null at other stages.
void fill(RunOutcome& outcome, const Run& run, StageTimeline timeline, const Source* source);

}  // namespace paretopipe::stage
