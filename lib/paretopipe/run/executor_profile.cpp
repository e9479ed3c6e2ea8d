// How an executor profiles devices and the ways between them.
#include <paretopipe/core/units.hpp>
#include <paretopipe/run/pipeline_executor.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

namespace {

/// Each device times the whole model, so it has to hold it.
void check_memory(const experiment::UncutTrial& trial, const experiment::ModelDescription& model) {
  const auto weights = model.parameter_bytes({0, model.block_count()});
  for (int stage = 0; stage < static_cast<int>(trial.cpus.size()); ++stage) {
    const auto profile = trial.device_profile(stage);
    if (!profile.memory_limit_bytes || weights < *profile.memory_limit_bytes) continue;
    throw UsageError(fmt::format(
        "{} cannot be timed on {}, which has to hold all of it for that: its weights take {} of the {} there; name "
        "split points or another scheme than equal-time, or profile a device without the limit, and give the limit to "
        "`paretopipe predict --memory`",
        model.model, profile.name, format_bytes(static_cast<double>(weights)),
        format_bytes(static_cast<double>(*profile.memory_limit_bytes))));
  }
}

/// Ten or more of a quota's periods (launch/cgroup.cpp), which are longer for a small share. In less time, a stage
/// would only use up what its device saved while it was idle.
std::int64_t least_under_quota_ns(double cpus) {
  return static_cast<std::int64_t>(std::max(100e6, 10e6 / cpus));
}

}  // namespace

stage::TimeRuns PipelineExecutor::prepare_to_time(const experiment::UncutTrial& trial,
                                                  const experiment::ModelDescription& model, int rounds) {
  check_memory(trial, model);
  ensure_pipeline(trial, false);
  unsplit_.end();  // it would compete with the stages
  stage::TimeRuns runs{.model = request_of(trial), .block_count = model.block_count(), .ends = {}, .rounds = rounds};
  runs.model.cut_positions = model.cut_positions;
  runs.model.data = "random";  // only the shape of inputs matters, and another machine has no data
  runs.model.labels.clear();
  runs.prepared =
      trial.compute.compute == experiment::Compute::optimized || !trial.compute_devices.empty();  // as for trials
  return runs;
}

stage::TimeRuns PipelineExecutor::timing_at(int stage, const experiment::UncutTrial& trial, stage::TimeRuns request) {
  request.model = with_files_of(static_cast<std::size_t>(stage), trial, std::move(request.model));
  if (const auto quota = trial.device_profile(stage).cpu_quota) request.least_ns = least_under_quota_ns(*quota);
  return request;
}

std::vector<predict::ProfiledRun> PipelineExecutor::time_runs(int stage, stage::TimeRuns request) {
  std::vector<predict::ProfiledRun> runs;
  for (request.begin = 0; request.begin < request.block_count; ++request.begin) {
    request.ends = predict::profiled_ends(request.block_count, request.begin);
    for (auto& run : pipeline_->time_runs(stage, request).runs) {
      runs.push_back({request.begin, run.end, std::move(run.compute_ns), run.memory_bytes});
    }
  }
  return runs;
}

/// Keeps the shorter of the two timings.
void PipelineExecutor::time_disturbed_again(int stage, stage::TimeRuns request,
                                            std::vector<predict::ProfiledRun>& runs) {
  std::map<int, std::vector<predict::ProfiledRun*>> disturbed;
  for (const auto i : predict::disturbed_runs(runs)) disturbed[runs[i].begin].push_back(&runs[i]);
  for (const auto& [begin, before] : disturbed) {
    request.begin = begin;
    request.ends.clear();
    for (const auto* run : before) request.ends.push_back(run->end);
    const auto replies = pipeline_->time_runs(stage, request).runs;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const predict::ProfiledRun again{begin, replies.at(i).end, replies[i].compute_ns, before[i]->memory_bytes};
      if (again.median_ns() < before[i]->median_ns()) *before[i] = again;
    }
  }
}

std::vector<predict::ProfiledCodec> PipelineExecutor::time_codecs(int stage, stage::TimeCodecs request) {
  std::vector<predict::ProfiledCodec> all;
  if (request.codecs.empty()) return all;
  for (request.cut = 0; request.cut <= request.block_count; ++request.cut) {
    auto times = pipeline_->time_codecs(stage, request).codecs;
    for (std::size_t i = 0; i < request.codecs.size(); ++i) {
      auto& [payload_bytes, encode_ns, decode_ns] = times.at(i);
      all.push_back(
          {to_string(request.codecs[i]), request.cut, payload_bytes, std::move(encode_ns), std::move(decode_ns)});
    }
  }
  const auto by_name = [](const auto& one, const auto& other) { return one.codec < other.codec; };
  std::stable_sort(all.begin(), all.end(), by_name);
  return all;
}

namespace {

/// A device that was profiled already and is as fast by definition: the same share of the same CPUs. Null if there is
/// none.
const predict::ProfiledDevice* same_device(const predict::ProfiledDevice& device,
                                           const std::vector<predict::ProfiledDevice>& others) {
  const auto same = [&](const auto& other) {
    return !device.cpus.empty() && other.cpus == device.cpus && other.host.boot_id == device.host.boot_id &&
           other.profile == device.profile && other.cpu_quota == device.cpu_quota && other.compute == device.compute;
  };
  const auto found = std::find_if(others.begin(), others.end(), same);
  return found == others.end() ? nullptr : &*found;
}

}  // namespace

void PipelineExecutor::time(int stage, const stage::TimeRuns& request, const std::vector<codec::Codec>& codecs,
                            predict::ProfiledDevice& device) {
  device.runs = time_runs(stage, request);
  // Under a quota some rounds are short and others long, whatever else runs.
  if (!device.cpu_quota) time_disturbed_again(stage, request, device.runs);
  device.codecs = time_codecs(stage, {request.model, request.block_count, 0, codecs, request.rounds});
}

std::vector<predict::ProfiledDevice> PipelineExecutor::profile(
    const experiment::UncutTrial& trial, const experiment::ModelDescription& model,
    const std::vector<codec::Codec>& codecs, int rounds, const std::function<void(const std::string&)>& progress) {
  const auto runs = prepare_to_time(trial, model, rounds);
  std::vector<predict::ProfiledDevice> devices;
  for (int stage = 0; stage < pipeline_->stage_count(); ++stage) {
    const auto emulated = trial.device_profile(stage);
    predict::ProfiledDevice device;
    device.name = !trial.on.empty()     ? trial.on[static_cast<std::size_t>(stage)]
                  : emulated.emulated() ? emulated.name
                                        : fmt::format("stage {}", stage);
    if (progress) progress(device.name);
    const auto& configured = pipeline_->configured()[static_cast<std::size_t>(stage)];
    device.host = configured.host;
    device.cpus = configured.cpus;
    device.compute = configured.compute;
    if (emulated.emulated()) device.profile = emulated.name;
    device.cpu_quota = emulated.cpu_quota;
    const auto* same = same_device(device, devices);
    if (same != nullptr) {
      device.runs = same->runs;
      device.codecs = same->codecs;
    } else {
      time(stage, timing_at(stage, trial, runs), codecs, device);
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<predict::ProfiledLink> PipelineExecutor::probe_links() {
  std::vector<predict::ProfiledLink> links;
  const int stages = pipeline_->stage_count();
  for (int from = 0; from < stages; ++from) {
    const int to = (from + 1) % stages;
    const auto probed = pipeline_->probe_link(from, to);
    links.push_back({from, to, probed.round_trip_ns, probed.bit_per_s()});
  }
  return links;
}

}  // namespace paretopipe::run
