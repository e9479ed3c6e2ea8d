#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/analysis/stats/outliers.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/timeline.hpp>
#include <paretopipe/run/trial_assembly.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::run {

namespace {

/// A stage alone has no link. Otherwise every stage sends to the next one, and the last one back to the source.
int participants(const experiment::Trial& trial) {
  return trial.all_local() ? 1 : trial.stage_count();
}

/// What stage `stage` receives: the tensors at the cut before it; at the source, the results.
stage::Boundary incoming_of(const experiment::Trial& trial, const experiment::ModelDescription& model,
                            const stage::Ends& ends, int stage) {
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

record::PhaseSamples samples_of(const experiment::Trial& trial, const TrialEvidence& evidence, const Phase& phase) {
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

std::vector<record::LinkPayload> payloads(const experiment::Trial& trial, const experiment::ModelDescription& model) {
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

record::StageReport stage_report(const experiment::Trial& trial, const experiment::ModelDescription& model,
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

record::Fidelity fidelity_of(const experiment::Trial& trial, const stage::RunReport& source, int batches) {
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
  if (experiment::has_single_stream(trial.phases)) {
    record.single_stream =
        samples_of(trial, evidence, {&stage::RunReport::single_stream, &stage::RunReport::single_stream_results, 1});
    record.single_stream->warmup = stats::settled_latency_warmup(*record.single_stream);
  }
  if (experiment::has_offline(trial.phases)) {
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

std::vector<stage::Run> make_run_requests(const experiment::Trial& trial, const experiment::ModelDescription& model,
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

record::TrialRecord assemble_record(const experiment::Trial& trial, const experiment::ModelDescription& model,
                                    const TrialEvidence& evidence) {
  record::TrialRecord record;
  record.trial = trial;
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    record.stages.push_back(stage_report(trial, model, evidence, i));
    record.clocks.push_back(evidence.clocks[i].relation());
  }
  record.links = payloads(trial, model);
  add_samples(record, evidence);
  add_fidelity(record, evidence.reports.front(), experiment::count(trial.phases) * (trial.warmup + trial.batches));
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

void add_network(record::TrialRecord& record, experiment::NetworkEvidence network) {
  if (record.status == record::Status::ok && !network.deviations.empty()) {
    record.status = record::Status::invalid;
    record.failure = record::Failure{"network", std::nullopt, fmt::format("{}", fmt::join(network.deviations, " "))};
  }
  record.network = std::move(network);
}

record::TrialRecord failure_record(const experiment::Trial& trial, record::Failure failure) {
  record::TrialRecord record;
  record.trial = trial;
  record.status = record::Status::failed;
  record.failure = std::move(failure);
  return record;
}

namespace {

void copy_moments(StageTimeline& to, std::size_t entry, const StageTimeline& from, std::size_t own) {
  for (const auto moment : kStageMoments) (to.*moment)[entry] = (from.*moment)[own];
}

/// A batch that the source computes itself stays in place: all moments of its dispatch are that of its hand-over.
void stay(StageTimeline& dispatch, StageTimeline& device, std::size_t entry) {
  const auto handed_over = dispatch.receive_begin[entry];
  copy_moments(device, entry, dispatch, entry);
  for (const auto moment : kStageMoments) (dispatch.*moment)[entry] = handed_over;
}

}  // namespace

void deal_out(std::vector<stage::Run>& requests) {
  const auto devices = static_cast<int>(requests.size());
  for (int device = 0; device < devices; ++device) {
    auto& request = requests[static_cast<std::size_t>(device)];
    request.devices = devices;
    request.device = device;
    if (device == 0) continue;
    const auto share = requests.front().deal().share_of(static_cast<std::size_t>(device));
    request.stage_count = 2;
    request.warmup = 0;  // the source's record decides which batches count
    request.batches = static_cast<int>(share);
  }
}

void gather_dealt(record::PhaseSamples& samples, int devices) {
  const auto micro_batches = static_cast<std::size_t>(samples.micro_batches);
  auto dispatch = std::move(samples.stages.front());
  const auto entries = dispatch.receive_begin.size();
  const Deal deal{static_cast<std::size_t>(devices), entries / micro_batches};
  StageTimeline device_side;
  for (const auto moment : kStageMoments) (device_side.*moment).resize(entries);
  for (std::size_t device = 0; device < deal.devices; ++device) {
    const auto& own_side = samples.stages[device];
    const auto own_entries = deal.share_of(device) * micro_batches;
    if (device > 0 && own_side.ready.size() != own_entries) {
      throw Error(ExitCode::internal, fmt::format("device {} reported {} of the {} micro-batches that it was dealt",
                                                  device, own_side.ready.size(), own_entries));
    }
    for (std::size_t own = 0; own < own_entries; ++own) {
      const auto entry = deal.batch_of(device, own / micro_batches) * micro_batches + own % micro_batches;
      if (device == 0) {
        stay(dispatch, device_side, entry);
      } else {
        copy_moments(device_side, entry, own_side, own);
      }
    }
  }
  samples.devices = devices;
  samples.stages = {std::move(dispatch), std::move(device_side)};
}

std::vector<record::LinkPayload> dealt_payloads(const experiment::Trial& trial,
                                                const experiment::ModelDescription& model) {
  const auto headers = trial.micro_batches() * static_cast<std::int64_t>(wire::kHeaderBytes);
  std::vector<record::LinkPayload> links;
  for (int device = 1; device < trial.data_parallel; ++device) {
    links.push_back({0, device, trial.micro_batches() * model.bytes_at(0), headers});
    links.push_back({device, 0, trial.micro_batches() * model.bytes_at(trial.block_count), headers});
  }
  return links;
}

}  // namespace paretopipe::run
