#pragma once
#include <paretopipe/record/record.hpp>
#include <paretopipe/stage/messages.hpp>

#include <functional>
#include <vector>

namespace paretopipe::run {

/// Runs one request per stage that takes part and gives their reports, source first.
using RunStages = std::function<std::vector<stage::RunReport>(const std::vector<stage::Run>&)>;

/// Adds the Server phases that the record's trial asks for: one at its rate, or those of a search for the highest rate
/// that keeps its bound, which begins at half the throughput that the Offline phase measured. `requests` are those of
/// the trial's other phases. Each rate is a run of its own, for which `run` is called; nothing is loaded or started
/// anew. The stages' usage, memory and conditions then cover these phases, too. If an output differs from the unsplit
/// model's, the trial is a failure, and no further rate is tried.
///
/// Does nothing for a trial without a Server phase and for a record that has failed. Throws what `run` throws.
void add_server_phases(record::TrialRecord& record, const std::vector<stage::Run>& requests, const RunStages& run);

}  // namespace paretopipe::run
