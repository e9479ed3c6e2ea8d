#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/source.hpp>
#include <paretopipe/stage/tensor_bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace paretopipe::stage {

/// What a run leaves behind.
struct RunOutcome {
  RunReport report;
  std::vector<Activation> last_batch{};  ///< only at the source: the micro-batches of the last result that came back
};

/// What a stage's tensors take: the same in every run of the same blocks, however fast the links are.
struct TensorNeeds {
  std::int64_t buffers = 0;    ///< for what is received
  std::int64_t computing = 0;  ///< the most that lives at once of what is allocated while a micro-batch is computed
  std::int64_t result = 0;     ///< what is left of that when it is computed
  std::size_t waiting = 0;     ///< results that may wait for the link while the next micro-batch is computed

  /// A micro-batch is computed and encoded, since `watch` began.
  void computed(const TensorWatch& watch);

  /// Together with what the stage's blocks take; nothing where the backend does not count.
  host::StageMemory with(const std::optional<host::StageMemory>& blocks) const;
};

/// Calls `run`, and reports what this process used meanwhile and holds.
RunOutcome observe(const Backend& backend, const std::function<void()>& run);

/// The moments of a finished run, phase by phase, and what the source found; null at a stage that is not it.
void fill(RunOutcome& outcome, const Run& run, StageTimeline timeline, const Source* source);

}  // namespace paretopipe::stage
