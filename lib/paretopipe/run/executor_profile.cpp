// How an executor profiles devices and the ways between them.
#include <paretopipe/run/pipeline_executor.hpp>

#include <utility>

#include <fmt/format.h>

namespace paretopipe::run {

std::vector<predict::ProfiledRun> PipelineExecutor::time_runs(int stage, const experiment::UncutTrial& trial,
                                                              stage::TimeRuns request) {
  request.model = with_files_of(static_cast<std::size_t>(stage), trial, request.model);
  std::vector<predict::ProfiledRun> runs;
  for (request.begin = 0; request.begin < request.block_count; ++request.begin) {
    request.ends = predict::profiled_ends(request.block_count, request.begin);
    for (auto& run : pipeline_->time_runs(stage, request).runs) {
      runs.push_back({request.begin, run.end, std::move(run.compute_ns), run.memory_bytes});
    }
  }
  return runs;
}

std::vector<predict::ProfiledDevice> PipelineExecutor::profile(
    const experiment::UncutTrial& trial, const experiment::ModelDescription& model, int rounds,
    const std::function<void(const std::string&)>& progress) {
  ensure_pipeline(trial, false);
  unsplit_.end();  // it would compete with the stages
  stage::TimeRuns request{.model = request_of(trial), .block_count = model.block_count(), .ends = {}, .rounds = rounds};
  request.model.cut_positions = model.cut_positions;
  request.model.data = "random";  // of inputs only the shape matters, and another machine has no data
  request.model.labels.clear();
  request.prepared =
      trial.compute.compute == experiment::Compute::optimized || !trial.compute_devices.empty();  // as for trials
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
    device.runs = time_runs(stage, trial, request);
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
