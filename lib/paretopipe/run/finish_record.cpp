#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/timeline.hpp>
#include <paretopipe/core/version.hpp>
#include <paretopipe/run/finish_record.hpp>
#include <paretopipe/run/trial_clocks.hpp>
#include <paretopipe/run/trial_requests.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::run {

namespace {

template <class Timeline, class Moments>
Timeline rebase(const Timeline& timeline, const Moments& members, const stats::ClockBounds& clock,
                std::int64_t origin) {
  Timeline rebased = timeline;
  for (const auto member : members) {
    for (auto& moment : rebased.*member) moment = clock.to_base(moment) - origin;
  }
  return rebased;
}

void copy_moments(StageTimeline& to, std::size_t entry, const StageTimeline& from, std::size_t own) {
  for (const auto moment : kStageMoments) (to.*moment)[entry] = (from.*moment)[own];
}

/// A batch that the source computes itself stays in place: every moment of its dispatch is when it was handed over.
void stay(StageTimeline& dispatch, StageTimeline& device, std::size_t entry) {
  const auto handed_over = dispatch.receive_begin[entry];
  copy_moments(device, entry, dispatch, entry);
  for (const auto moment : kStageMoments) (dispatch.*moment)[entry] = handed_over;
}

/// Turns the timelines of all devices, the source's first, into those of `record::PhaseSamples::devices`. Throws
/// Error(internal) if a device did not report its share.
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

/// Throws if a stage reported no batch of a phase: without moments it would look like one that took no part.
void require_batches(const experiment::Trial& trial, const TrialEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    const auto& report = evidence.reports[i];
    const bool lacks = (experiment::has_single_stream(trial.phases) && report.single_stream.ready.empty()) ||
                       (experiment::has_offline(trial.phases) && report.offline.ready.empty());
    if (lacks) throw Error(ExitCode::internal, fmt::format("stage {} reported a run without batches", i));
  }
}

TrialClocks clocks_of_stages(const experiment::Trial& trial, const TrialEvidence& evidence) {
  require_batches(trial, evidence);
  return {trial, evidence.configured, evidence.reports};
}

record::PhaseSamples samples_of(const experiment::Trial& trial, const TrialEvidence& evidence,
                                const TrialClocks& clocks, int depth, StageTimeline stage::RunReport::*moments,
                                ResultTimeline stage::RunReport::*results) {
  record::PhaseSamples samples;
  samples.warmup = trial.warmup;
  samples.depth = depth;
  samples.micro_batches = trial.micro_batches();
  const auto& source = evidence.reports.front();
  const auto origin = (source.*moments).ready.front();
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    samples.stages.push_back(rebase(evidence.reports[i].*moments, kStageMoments, clocks.of(i), origin));
  }
  samples.results = rebase(source.*results, kResultMoments, clocks.of(0), origin);
  if (trial.data_parallel > 0) gather_dealt(samples, trial.data_parallel);
  return samples;
}

/// The links from the source to each device and back. Payloads are those of a batch that crosses the link.
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

/// The mean over all batches of the trial, because what a compressor makes depends on the values.
std::int64_t encoded_bytes_per_batch(const experiment::Trial& trial, const TrialEvidence& evidence, std::size_t stage) {
  std::int64_t bytes = evidence.reports[stage].encoded_bytes;
  std::int64_t batches = std::int64_t{experiment::count(trial.phases)} * (trial.warmup + trial.batches);
  for (const auto& run : evidence.server) {
    bytes += run.reports[stage].encoded_bytes;
    batches += trial.warmup + trial.server->queries;
  }
  return (bytes + batches / 2) / batches;
}

std::vector<record::LinkPayload> payloads(const experiment::Trial& trial, const TrialEvidence& evidence) {
  const auto& model = evidence.model;
  if (trial.data_parallel > 0) return dealt_payloads(trial, model);
  std::vector<record::LinkPayload> links;
  const int stages = participants(trial);
  for (int from = 0; stages > 1 && from < stages; ++from) {
    const bool back = from + 1 == stages;
    const int split = back ? trial.block_count : trial.split_points[static_cast<std::size_t>(from)];
    const auto frames = trial.micro_batches() * static_cast<std::int64_t>(model.shapes_at(split).size());
    links.push_back({from, back ? 0 : from + 1, trial.micro_batches() * model.bytes_at(split),
                     frames * static_cast<std::int64_t>(wire::kHeaderBytes)});
    if (!codec_of_link(trial, from).encodes()) continue;
    auto& link = links.back();
    link.unencoded_bytes =
        std::exchange(link.payload_bytes, encoded_bytes_per_batch(trial, evidence, static_cast<std::size_t>(from)));
  }
  return links;
}

/// Adds the report of a further run to the report of a stage.
void extend(record::StageReport& stage, const stage::RunReport& report) {
  stage.usage = stage.usage + report.usage;
  stage.state = report.state;
  if (stage.peak_rss_bytes) stage.peak_rss_bytes = std::max(*stage.peak_rss_bytes, report.peak_rss_bytes);
  if (stage.memory) {
    stage.memory->tensors_bytes = std::max(stage.memory->tensors_bytes, report.memory.tensors_bytes);
  }
  if (const auto gpu = stage.gpu.value_or(host::GpuUsage{}) + report.gpu; gpu.samples > 0) stage.gpu = gpu;
  if (!stage.conditions) return;
  auto& conditions = *stage.conditions;
  conditions.probe_after_ns = report.conditions.probe_after_ns;
  conditions.frequency_after_hz = report.conditions.frequency_after_hz;
  conditions.temperature_after_celsius = report.conditions.temperature_after_celsius;
  conditions.throttled_after = report.conditions.throttled_after;
  if (conditions.time && report.conditions.time) {
    conditions.time = *conditions.time + *report.conditions.time;
  } else {
    conditions.time.reset();
  }
}

record::StageReport stage_report(const experiment::Trial& trial, const TrialEvidence& evidence, std::size_t stage) {
  const auto& report = evidence.reports[stage];
  auto result = stage_as_set_up(trial, evidence, stage);
  result.state = report.state;
  result.held_parameter_bytes = report.held_parameter_bytes;
  if (report.peak_rss_bytes > 0) result.peak_rss_bytes = report.peak_rss_bytes;
  result.usage = report.usage;
  result.conditions = report.conditions;
  if (report.memory.total() > 0) result.memory = report.memory;
  if (report.gpu.samples > 0) result.gpu = report.gpu;
  if (!evidence.prepared.empty()) result.prepared = evidence.prepared[stage].preparation;
  for (const auto& run : evidence.server) extend(result, run.reports[stage]);
  return result;
}

record::PhaseSamples offline_samples(const experiment::Trial& trial, const TrialEvidence& evidence,
                                     const TrialClocks& clocks) {
  auto samples =
      samples_of(trial, evidence, clocks, trial.depth, &stage::RunReport::offline, &stage::RunReport::offline_results);
  samples.warmup = stats::settled_throughput_warmup(samples);
  return samples;
}

/// Adds the samples of the trial's phases. Their warm-up is lengthened if batches were still warming up.
void add_samples(record::TrialRecord& record, const TrialEvidence& evidence, const TrialClocks& clocks) {
  const auto& trial = record.trial;
  if (experiment::has_single_stream(trial.phases)) {
    record.single_stream = samples_of(trial, evidence, clocks, 1, &stage::RunReport::single_stream,
                                      &stage::RunReport::single_stream_results);
    record.single_stream->warmup = stats::settled_latency_warmup(*record.single_stream);
  }
  if (experiment::has_offline(trial.phases)) record.offline = offline_samples(trial, evidence, clocks);
  auto outliers = stats::find_outliers(record.single_stream, record.offline);
  if (!outliers.empty()) record.outliers = std::move(outliers);
  record.slow_downs = stats::find_slow_downs(record.single_stream, record.offline);
}

record::ServerRecord server_record(const experiment::ServerLoad& load, const std::vector<ServerEvidence>& evidence) {
  record::ServerRecord server;
  for (const auto& run : evidence) server.runs.push_back(run.measured);
  if (load.bound) server.max_rate = stats::max_rate_of(server.runs, *load.bound);
  return server;
}

record::Failure mismatch(const record::Fidelity& found) {
  if (found.lossy_codec) {
    return {"check", std::nullopt,
            fmt::format("the codec changed the class of {:.1f} % of the images, more than the {:.1f} % allowed",
                        100 * found.flips(), 100 * *found.max_flips)};
  }
  const auto allowed = found.tolerance == 0 ? "" : fmt::format(", more than the {:g} allowed", found.tolerance);
  return {"check", std::nullopt,
          fmt::format("the output differs from the unsplit model's by up to {:g}{} (top-1 agreement {:.1f} %)",
                      found.max_abs_difference, allowed, 100 * found.top1_agreement)};
}

}  // namespace

record::TrialRecord not_ok(record::TrialRecord record, record::Status status, record::Failure failure) {
  record.status = status;
  record.failure = std::move(failure);
  return record;
}

namespace {

/// True if the process for unsplit models did without stage 0's GPU, or with fewer threads: it ran on another machine.
bool differ_in_device(const stage::Configured& first, const stage::Configured& unsplit) {
  const auto differ = [&](const char* key) {
    return first.compute.contains(key) && unsplit.compute.contains(key) && first.compute[key] != unsplit.compute[key];
  };
  return differ("device") || differ("threads");
}

}  // namespace

experiment::Cpus cpus_of(std::span<const stage::Configured> stages, const stage::Configured& unsplit) {
  const auto library = [](const stage::Configured& process) {
    return process.compute.is_object() ? process.compute.value("torch_version", "") : "";  // synthetic models have none
  };
  if (differ_in_device(stages.front(), unsplit)) return experiment::Cpus::of_several_kinds;
  const bool alike = std::all_of(stages.begin(), stages.end(), [&](const stage::Configured& stage) {
    return host::same_kind_of_cpu(stage.host, unsplit.host) && library(stage) == library(unsplit);
  });
  return alike ? experiment::Cpus::of_one_kind : experiment::Cpus::of_several_kinds;
}

record::StageReport stage_as_set_up(const experiment::Trial& trial, const TrialEvidence& evidence, std::size_t stage) {
  const auto& model = evidence.model;
  const auto& configured = evidence.configured[stage];
  record::StageReport result;
  result.host = configured.host;
  result.compute = configured.compute;
  result.cpus = configured.cpus;
  if (configured.git_state != git_state()) result.git_state = configured.git_state;
  result.blocks = trial.stage_blocks()[stage];
  if (!result.blocks.empty()) result.last_block = model.blocks[static_cast<std::size_t>(result.blocks.end) - 1].name;
  result.parameter_bytes = model.parameter_bytes(result.blocks);
  result.emulated_device = evidence.devices[stage];
  return result;
}

record::Fidelity fidelity_of(const experiment::Trial& trial, const TrialEvidence& evidence) {
  const auto& first = evidence.reports.front();
  const double relative = trial.relative_tolerance(cpus_of(evidence.configured, evidence.unsplit));
  record::Fidelity all{first.max_abs_difference, first.top1_agreement,
                       experiment::count(trial.phases) * (trial.warmup + trial.batches),
                       relative * first.largest_output};
  all.mean_abs_difference = first.mean_abs_difference;
  // The other runs have the same accuracy, because their inputs and results are the same.
  if (first.accuracy.images > 0) all.accuracy = first.accuracy;
  all.unsplit_against_eager = evidence.unsplit_against_eager;
  all.lossy_codec = has_lossy_codec(trial);
  if (all.lossy_codec) all.max_flips = trial.max_flips;
  for (const auto& run : evidence.server) {
    const auto& source = run.reports.front();
    const int batches = trial.warmup + trial.server->queries, before = all.batches_compared;
    all.batches_compared += batches;
    all.max_abs_difference = std::max(all.max_abs_difference, source.max_abs_difference);
    all.tolerance = std::max(all.tolerance, relative * source.largest_output);
    const auto pooled = [&](double mean, double own) {  // stages report an infinite difference as the largest number
      const double weighed = (mean * before + own * batches) / all.batches_compared;
      return std::min(weighed, std::numeric_limits<double>::max());
    };
    all.mean_abs_difference = pooled(*all.mean_abs_difference, source.mean_abs_difference);
    all.top1_agreement = pooled(all.top1_agreement, source.top1_agreement);
  }
  return all;
}

double offline_throughput(const experiment::Trial& trial, const TrialEvidence& evidence) {
  const auto samples = offline_samples(trial, evidence, clocks_of_stages(trial, evidence));
  return *stats::summarise(std::nullopt, samples, trial.batch, payloads(trial, evidence)).throughput_image_per_s;
}

record::TrialRecord finish_record(const experiment::Trial& trial, TrialEvidence evidence) {
  record::TrialRecord record;
  record.trial = trial;
  record.provenance = std::move(evidence.provenance);
  if (evidence.failure) return not_ok(std::move(record), record::Status::failed, std::move(*evidence.failure));
  const auto clocks = clocks_of_stages(trial, evidence);
  for (std::size_t i = 0; i < evidence.reports.size(); ++i) {
    record.stages.push_back(stage_report(trial, evidence, i));
    record.clocks.push_back(clocks.relation(i));
  }
  record.links = payloads(trial, evidence);
  record.network = std::move(evidence.network);
  add_samples(record, evidence, clocks);
  record.fidelity = fidelity_of(trial, evidence);
  if (!record.fidelity->kept()) {
    auto failure = mismatch(*record.fidelity);
    return not_ok(std::move(record), record::Status::failed, std::move(failure));
  }
  record.summary = stats::summarise(record.single_stream, record.offline, trial.batch, record.links);
  if (trial.server) record.server = server_record(*trial.server, evidence.server);
  return judged(std::move(record), clocks);
}

record::TrialRecord judged(record::TrialRecord record, const TrialClocks& clocks) {
  if (auto adjusted = clocks.adjusted()) {
    return not_ok(std::move(record), record::Status::invalid, std::move(*adjusted));
  }
  if (!record.network || record.network->deviations.empty()) return record;
  auto reason = fmt::format("{}", fmt::join(record.network->deviations, " "));
  return not_ok(std::move(record), record::Status::invalid, {"network", std::nullopt, std::move(reason)});
}

record::TrialRecord set_aside(record::TrialRecord record, const std::vector<std::string>& reasons) {
  return not_ok(
      std::move(record), record::Status::invalid,
      {"conditions", std::nullopt, fmt::format("measured in a slow window, and again: {}", fmt::join(reasons, "; "))});
}

}  // namespace paretopipe::run
