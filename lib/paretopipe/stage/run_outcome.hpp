#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/source.hpp>

#include <functional>
#include <vector>

namespace paretopipe::stage {

/// What a run leaves behind.
struct RunOutcome {
  RunReport report;
  std::vector<Activation> last_batch{};  ///< only at the source: the chunks of the last result that came back
};

/// Calls `run`, and reports what this process used meanwhile and holds.
RunOutcome observe(const Backend& backend, const std::function<void()>& run);

/// The moments of a finished run, phase by phase, and what the source found; null at a stage that is not it.
void fill(RunOutcome& outcome, const Run& run, StageTimeline timeline, const Source* source);

}  // namespace paretopipe::stage
