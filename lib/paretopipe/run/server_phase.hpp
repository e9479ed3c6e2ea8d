#pragma once
#include <paretopipe/record/record.hpp>
#include <paretopipe/stage/messages.hpp>

#include <functional>
#include <vector>

namespace paretopipe::run {

/// Runs one request per participating stage and returns their reports, source first.
using RunStages = std::function<std::vector<stage::RunReport>(const std::vector<stage::Run>&)>;

/// Adds the Server phases that the record's trial asks for: one at its rate, or those of a search for the highest rate
/// that keeps its bound, beginning at half the throughput of the Offline phase. `requests` are those of the trial's
/// other phases. Each rate is a run of its own, by a call of `run`; nothing is loaded or restarted. The stages' usage,
/// memory and conditions then include these phases. If an output differs from the unsplit model's, the trial fails, and
/// no further rate is tried.
///
/// Does nothing for a trial without a Server phase and for a record that has failed. Throws what `run` throws.
void add_server_phases(record::TrialRecord& record, const std::vector<stage::Run>& requests, const RunStages& run);

}  // namespace paretopipe::run
