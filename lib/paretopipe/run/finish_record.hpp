#pragma once
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/run/pipeline.hpp>
#include <paretopipe/stage/messages.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::run {

class TrialClocks;

/// A Server phase at one rate, and what every participating stage reported of it.
struct ServerEvidence {
  record::ServerRun measured;
  std::vector<stage::RunReport> reports;
};

/// What stages and driver observed in one trial. The vectors have one entry for each participating stage.
struct TrialEvidence {
  record::Provenance provenance{};
  std::optional<record::Failure> failure{};  ///< why there is no result; the following then means nothing
  experiment::ModelDescription model{};      ///< of one micro-batch
  std::vector<stage::Prepared> prepared{};   ///< empty if nothing was to be prepared
  std::vector<std::optional<record::EmulatedDevice>> devices{};  ///< none: it is not emulated
  std::vector<stage::Configured> configured{};
  std::vector<stage::RunReport> reports{};
  stage::Configured unsplit{};  ///< the process that computed the unsplit model's outputs
  std::optional<UnsplitFidelity> unsplit_against_eager{};
  std::vector<ServerEvidence> server{};                  ///< one for each rate, in the order in which they were tried
  std::optional<experiment::NetworkEvidence> network{};  ///< if the links were shaped
};

/// Says if these stages and the unsplit model computed on CPUs of one kind, with one version of LibTorch, and the
/// unsplit model on the same device and with as many threads as the first stage.
experiment::Cpus cpus_of(std::span<const stage::Configured> stages, const stage::Configured& unsplit);

/// What is known of a stage before it runs: its machine, settings and blocks. The rest of the report is empty.
record::StageReport stage_as_set_up(const experiment::Trial& trial, const TrialEvidence& evidence, std::size_t stage);

/// How far the outputs of all runs, Server phases included, are from those of the unsplit model, and how far they may
/// be on the CPUs that took part.
record::Fidelity fidelity_of(const experiment::Trial& trial, const TrialEvidence& evidence);

/// Images per second in the Offline phase, as the record will have it. Requires that the trial has the phase.
double offline_throughput(const experiment::Trial& trial, const TrialEvidence& evidence);

/// The record of a trial: samples in one time base, payloads, fidelity, summary. This file alone decides a record's
/// status. Without a result, or if the output differs from the unsplit model's by more than the mode's tolerance, the
/// trial failed, and has no summary; if the network deviated from the trial's profile, or a clock was adjusted, it is
/// invalid. Throws Error(internal) if a stage reported no batch or not its share, and UsageError for damaged samples.
record::TrialRecord finish_record(const experiment::Trial& trial, TrialEvidence evidence);

/// A record with this status, for this reason.
record::TrialRecord not_ok(record::TrialRecord record, record::Status status, record::Failure failure);

/// The record as it is, or an invalid one if a clock was adjusted or the network deviated from the trial's profile.
record::TrialRecord judged(record::TrialRecord record, const TrialClocks& clocks);

/// A finished record that is to be measured again, because it fell into a slow window of the machine: it stays
/// readable, with the reasons why it does not count.
record::TrialRecord set_aside(record::TrialRecord record, const std::vector<std::string>& reasons);

}  // namespace paretopipe::run
