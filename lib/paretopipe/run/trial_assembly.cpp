#include <paretopipe/core/error.hpp>
#include <paretopipe/run/trial_assembly.hpp>
#include <paretopipe/stats/outliers.hpp>
#include <paretopipe/stats/slow_downs.hpp>
#include <paretopipe/stats/summarise.hpp>
#include <paretopipe/stats/warmup.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dealt_trial.hpp"

namespace paretopipe::run {
namespace {

/// A stage alone has no link. Otherwise every stage sends to the next one, and the last one back to the source.
int participants(const plan::Trial& trial) {
  return trial.all_local() ? 1 : trial.stage_count();
}

/// What stage `stage` receives: the tensors at the cut before it; at the source, the results.
stage::Boundary incoming_of(const plan::Trial& trial, const config::ModelDescription& model, const stage::Ends& ends,
                            int stage) {
  if (stage == 0) return {ends.result};
  if (trial.data_parallel > 0) return {ends.input};
  const int split = trial.split_points[static_cast<std::size_t>(stage) - 1];
  if (split == 0) return {ends.input};
  if (split == trial.block_count) return {ends.result};
  stage::Boundary boundary;
  for (auto& shape : model.shapes_at(split))
    boundary.push_back(stage::activation_spec(trial.compute, std::move(shape)));
  return boundary;
}

template <class Timeline, class Moments>
Timeline rebase(const Timeline& timeline, const Moments& members, const ClockAlignment& clock, std::int64_t origin) {
  Timeline rebased = timeline;
  for (const auto member : members) {
    for (auto& moment : rebased.*member) moment = clock.to_ours(moment) - origin;
  }
  return rebased;
}

struct Phase {
  StageTimeline stage::RunReport::*moments;
  ResultTimeline stage::RunReport::*results;
  int depth;
};

record::PhaseSamples samples_of(const plan::Trial& trial, const TrialEvidence& evidence, const Phase& phase) {
  record::PhaseSamples samples;
  samples.warmup = trial.warmup;
  samples.depth = phase.depth;
  samples.micro_batches = trial.micro_batches();
  const auto& source = evidence.reports.front();
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    // Without moments it would look like a stage that took no part.
    if (!(evidence.reports[i].*phase.moments).ready.empty()) continue;
    throw Error(ExitCode::internal, fmt::format("stage {} reported a run without batches", i));
  }
  const auto origin = evidence.clocks.front().to_ours((source.*phase.moments).ready.front());
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    samples.stages.push_back(rebase(evidence.reports[i].*phase.moments, kStageMoments, evidence.clocks[i], origin));
  }
  samples.results = rebase(source.*phase.results, kResultMoments, evidence.clocks.front(), origin);
  if (trial.data_parallel > 0) gather_dealt(samples, trial.data_parallel);
  return samples;
}

std::vector<record::LinkPayload> payloads(const plan::Trial& trial, const config::ModelDescription& model) {
  if (trial.data_parallel > 0) return dealt_payloads(trial, model);
  std::vector<record::LinkPayload> links;
  const int stages = participants(trial);
  for (int from = 0; stages > 1 && from < stages; ++from) {
    const bool back = from + 1 == stages;
    const int split = back ? trial.block_count : trial.split_points[static_cast<std::size_t>(from)];
    const auto frames = trial.micro_batches() * static_cast<std::int64_t>(model.shapes_at(split).size());
    links.push_back({from, back ? 0 : from + 1, trial.micro_batches() * model.bytes_at(split),
                     frames * static_cast<std::int64_t>(wire::kHeaderBytes)});
  }
  return links;
}

record::StageReport stage_report(const plan::Trial& trial, const config::ModelDescription& model,
                                 const TrialEvidence& evidence, std::size_t stage) {
  const auto& configured = evidence.configured[stage];
  const auto& report = evidence.reports[stage];
  record::StageReport result;
  result.host = configured.host;
  result.state = report.state;
  result.compute = configured.compute;
  result.cpus = configured.cpus;
  result.blocks = trial.stage_blocks()[stage];
  if (!result.blocks.empty()) result.last_block = model.blocks[static_cast<std::size_t>(result.blocks.end) - 1].name;
  result.parameter_bytes = model.parameter_bytes(result.blocks);
  result.held_parameter_bytes = report.held_parameter_bytes;
  if (report.peak_rss_bytes > 0) result.peak_rss_bytes = report.peak_rss_bytes;
  result.usage = report.usage;
  result.conditions = report.conditions;
  if (report.memory.total() > 0) result.memory = report.memory;
  if (report.gpu.samples > 0) result.gpu = report.gpu;
  if (!evidence.prepared.empty()) result.prepared = evidence.prepared[stage].preparation;
  return result;
}

record::Fidelity fidelity_of(const plan::Trial& trial, const stage::RunReport& source, int batches) {
  record::Fidelity fidelity{source.max_abs_difference, source.top1_agreement, batches,
                            trial.relative_tolerance() * source.largest_output};
  if (source.accuracy.images > 0) fidelity.accuracy = source.accuracy;
  return fidelity;
}

/// Joins the findings of two runs of a trial. Accuracy is that of the first: inputs and results are the same.
record::Fidelity joined(const record::Fidelity& first, const record::Fidelity& second) {
  auto both = first;
  both.max_abs_difference = std::max(first.max_abs_difference, second.max_abs_difference);
  both.tolerance = std::max(first.tolerance, second.tolerance);
  both.batches_compared += second.batches_compared;
  both.top1_agreement =
      (first.top1_agreement * first.batches_compared + second.top1_agreement * second.batches_compared) /
      both.batches_compared;
  return both;
}

/// Adds the samples of the trial's phases, with a longer warm-up if batches were still warming up.
void add_samples(record::TrialRecord& record, const TrialEvidence& evidence) {
  const auto& trial = record.trial;
  if (config::has_single_stream(trial.phases)) {
    record.single_stream =
        samples_of(trial, evidence, {&stage::RunReport::single_stream, &stage::RunReport::single_stream_results, 1});
    record.single_stream->warmup = stats::settled_latency_warmup(*record.single_stream);
  }
  if (config::has_offline(trial.phases)) {
    record.offline =
        samples_of(trial, evidence, {&stage::RunReport::offline, &stage::RunReport::offline_results, trial.depth});
    record.offline->warmup = stats::settled_throughput_warmup(*record.offline);
  }
  auto outliers = stats::find_outliers(record.single_stream, record.offline);
  if (!outliers.empty()) record.outliers = std::move(outliers);
  record.slow_downs = stats::find_slow_downs(record.single_stream, record.offline);
}

}  // namespace

std::vector<stage::Prepare> make_prepare_requests(const std::vector<stage::Run>& runs, const stage::Ends& ends) {
  std::vector<stage::Prepare> requests;
  for (const auto& run : runs)
    requests.push_back({run.blocks, requests.empty() ? stage::Boundary{ends.input} : run.incoming});
  return requests;
}

std::vector<stage::Run> make_run_requests(const plan::Trial& trial, const config::ModelDescription& model,
                                          const stage::Ends& ends, std::uint32_t tag) {
  std::vector<stage::Run> requests;
  const auto blocks = trial.stage_blocks();
  for (int stage = 0; stage < participants(trial); ++stage) {
    stage::Run request;
    request.tag = tag;
    request.stage_count = participants(trial);
    request.blocks = blocks[static_cast<std::size_t>(stage)];
    request.incoming = incoming_of(trial, model, ends, stage);
    request.warmup = trial.warmup;
    request.batches = trial.batches;
    request.depth = trial.depth;
    request.micro_batches = trial.micro_batches();
    request.phases = trial.phases;
    requests.push_back(request);
  }
  if (trial.data_parallel > 0) deal_out(requests);
  return requests;
}

record::TrialRecord assemble_record(const plan::Trial& trial, const config::ModelDescription& model,
                                    const TrialEvidence& evidence) {
  record::TrialRecord record;
  record.trial = trial;
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    record.stages.push_back(stage_report(trial, model, evidence, i));
    record.clocks.push_back(evidence.clocks[i].relation());
  }
  record.links = payloads(trial, model);
  add_samples(record, evidence);
  add_fidelity(record, evidence.reports.front(), config::count(trial.phases) * (trial.warmup + trial.batches));
  record.fidelity->unsplit_against_eager = evidence.unsplit_against_eager;
  if (record.status == record::Status::ok) {
    record.summary = stats::summarise(record.single_stream, record.offline, trial.batch, record.links);
  }
  return record;
}

void add_fidelity(record::TrialRecord& record, const stage::RunReport& source, int batches) {
  const auto found = fidelity_of(record.trial, source, batches);
  record.fidelity = record.fidelity ? joined(*record.fidelity, found) : found;
  if (record.fidelity->kept()) return;
  const auto tolerance = record.fidelity->tolerance;
  const auto allowed = tolerance == 0 ? "" : fmt::format(", more than the {:g} allowed", tolerance);
  record.status = record::Status::failed;
  record.summary.reset();
  record.failure = record::Failure{
      "check", std::nullopt,
      fmt::format("the output differs from the unsplit model's by up to {:g}{} (top-1 agreement {:.1f} %)",
                  record.fidelity->max_abs_difference, allowed, 100 * record.fidelity->top1_agreement)};
}

void add_network(record::TrialRecord& record, config::NetworkEvidence network) {
  if (record.status == record::Status::ok && !network.deviations.empty()) {
    record.status = record::Status::invalid;
    record.failure = record::Failure{"network", std::nullopt, fmt::format("{}", fmt::join(network.deviations, " "))};
  }
  record.network = std::move(network);
}

record::TrialRecord failure_record(const plan::Trial& trial, record::Failure failure) {
  record::TrialRecord record;
  record.trial = trial;
  record.status = record::Status::failed;
  record.failure = std::move(failure);
  return record;
}

}  // namespace paretopipe::run
