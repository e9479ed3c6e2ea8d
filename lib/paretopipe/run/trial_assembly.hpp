#pragma once
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/run/pipeline.hpp>
#include <paretopipe/stage/messages.hpp>

#include <optional>
#include <vector>

namespace paretopipe::run {

/// What stages and driver observed in one trial. The vectors have one entry for each participating stage.
struct TrialEvidence {
  std::vector<stage::Prepared> prepared;  ///< empty if nothing was to be prepared
  std::vector<stage::Configured> configured;
  std::vector<stage::RunReport> reports;
  std::vector<ClockAlignment> clocks;
  std::optional<UnsplitFidelity> unsplit_against_eager{};
};

/// Requests for one trial, one per participating stage: stage 0 alone if all is local. Split points may leave a middle
/// stage without blocks: it passes on its input. `model` and `ends` describe one micro-batch, which is the whole batch
/// if that is not cut.
std::vector<stage::Run> make_run_requests(const experiment::Trial& trial, const experiment::ModelDescription& model,
                                          const stage::Ends& ends, std::uint32_t tag);

/// What the stages are to prepare for these runs.
std::vector<stage::Prepare> make_prepare_requests(const std::vector<stage::Run>& runs, const stage::Ends& ends);

/// The record of a completed trial: samples in one time base, payloads, fidelity, summary. If the output differs from
/// the unsplit model's by more than the mode's tolerance, the trial is a failure.
record::TrialRecord assemble_record(const experiment::Trial& trial, const experiment::ModelDescription& model,
                                    const TrialEvidence& evidence);

/// Adds the source's comparison of `batches` more batches. If one differs, the trial is a failure without a summary.
void add_fidelity(record::TrialRecord& record, const stage::RunReport& source, int batches);

/// Adds how the trial's network behaved. If it deviated from the trial's profile, an ok record becomes invalid.
void add_network(record::TrialRecord& record, experiment::NetworkEvidence network);

/// The record of a failed trial.
record::TrialRecord failure_record(const experiment::Trial& trial, record::Failure failure);

// The specifics of a trial whose batches are dealt out to devices that each hold the whole model.

/// Turns the requests of one whole run into those for the source and for the shares of the other devices.
void deal_out(std::vector<stage::Run>& requests);

/// Turns the timelines of all devices, the source's first, into those of `record::PhaseSamples::devices`. Throws
/// Error(internal) if a device did not report its share.
void gather_dealt(record::PhaseSamples& samples, int devices);

/// The links from the source to each device and back. Payloads are those of a batch that crosses the link.
std::vector<record::LinkPayload> dealt_payloads(const experiment::Trial& trial,
                                                const experiment::ModelDescription& model);

}  // namespace paretopipe::run
