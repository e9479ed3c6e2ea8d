#pragma once
#include <paretopipe/config/model_description.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/run/clock_alignment.hpp>
#include <paretopipe/stage/messages.hpp>

#include <optional>
#include <vector>

namespace paretopipe::run {

/// What stages and driver saw of one trial. The vectors have one entry for each stage that took part.
struct TrialEvidence {
  std::vector<stage::Prepared> prepared;  ///< empty where nothing was to be prepared
  std::vector<stage::Configured> configured;
  std::vector<stage::RunReport> reports;
  std::vector<ClockAlignment> clocks;
  std::optional<UnsplitFidelity> unsplit_against_eager{};
};

/// Requests for one trial: one per stage that takes part, i.e. stage 0 alone where all is local. Split points that
/// leave a stage of the middle without blocks are allowed: it passes on what it gets. Like `model`, `ends`
/// tell of one micro-batch, which is the whole batch where that is not cut.
std::vector<stage::Run> make_run_requests(const plan::Trial& trial, const config::ModelDescription& model,
                                          const stage::Ends& ends, std::uint32_t tag);

/// What the stages of these runs are to get ready for.
std::vector<stage::Prepare> make_prepare_requests(const std::vector<stage::Run>& runs, const stage::Ends& ends);

/// The record of a trial that ran: samples in one time base, payloads, fidelity, summary. If the output differs from
/// the unsplit model's by more than the mode's tolerance, the trial is a failure.
record::TrialRecord assemble_record(const plan::Trial& trial, const config::ModelDescription& model,
                                    const TrialEvidence& evidence);

/// What the source's comparison of `batches` more batches says. If one differs, the trial is a failure without a
/// summary.
void add_fidelity(record::TrialRecord& record, const stage::RunReport& source, int batches);

/// How the network was that the trial ran over. If it deviated from the trial's, a record that is ok is invalid.
void add_network(record::TrialRecord& record, config::NetworkEvidence network);

/// The record of a trial that did not.
record::TrialRecord failure_record(const plan::Trial& trial, record::Failure failure);

}  // namespace paretopipe::run
