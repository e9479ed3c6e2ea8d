#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/cpu_conditions.hpp>
#include <paretopipe/host/gpu_watch.hpp>
#include <paretopipe/stage/run_outcome.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::stage {

namespace {

/// The micro-batches [begin, end) of a timeline.
template <class Timeline, class Moments>
Timeline slice(const Timeline& whole, const Moments& members, std::ptrdiff_t begin, std::ptrdiff_t end) {
  Timeline part;
  for (const auto member : members) {
    const auto& moments = whole.*member;
    (part.*member).assign(moments.begin() + begin, moments.begin() + end);
  }
  return part;
}

void fill_findings(RunOutcome& outcome, const Source& source) {
  outcome.last_batch = source.last_batch();
  auto& report = outcome.report;
  report.max_abs_difference = source.comparison().max_abs_difference();
  report.mean_abs_difference = source.comparison().mean_abs_difference();
  report.top1_agreement = source.comparison().top1_agreement();
  report.largest_output = source.largest_output();
  report.accuracy = source.accuracy();
}

}  // namespace

void TensorNeeds::computed(const TensorWatch& watch) {
  computing = std::max(computing, watch.most());
  result = std::max(result, watch.now());
}

host::StageMemory TensorNeeds::with(const std::optional<host::StageMemory>& blocks) const {
  if (!blocks) return {};
  auto memory = *blocks;
  memory.tensors_bytes = buffers + computing + static_cast<std::int64_t>(waiting) * result;
  return memory;
}

RunOutcome observe(const Backend& backend, const std::function<void()>& run) {
  RunOutcome outcome;
  auto& report = outcome.report;
  const host::GpuWatch gpu(backend.gpu_bus_address());  // it takes time and memory of its own
  host::reset_peak_rss();
  const host::CpuWatch cpus;
  const auto before = host::read_process_usage();
  run();
  report.usage = host::read_process_usage() - before;
  report.conditions = cpus.end();
  report.gpu = gpu.end();
  report.peak_rss_bytes = host::read_peak_rss_bytes().value_or(0);
  report.held_parameter_bytes = backend.held_parameter_bytes();
  report.state = host::read_host_state();
  return outcome;
}

void fill(RunOutcome& outcome, const Run& run, StageTimeline timeline, const Source* source) {
  auto& report = outcome.report;
  if (source != nullptr) {
    fill_findings(outcome, *source);
    timeline.receive_begin = timeline.receive_end = timeline.ready = source->issued();
  }
  if (run.server) {
    if (source != nullptr) report.server = source->server_timeline();
    return;
  }
  const auto phase = static_cast<std::ptrdiff_t>(run.phase_micro_batches());
  const auto total = static_cast<std::ptrdiff_t>(run.total_micro_batches());
  if (experiment::has_single_stream(run.phases)) {
    report.single_stream = slice(timeline, kStageMoments, 0, phase);
    if (source != nullptr) report.single_stream_results = slice(source->results(), kResultMoments, 0, phase);
  }
  if (experiment::has_offline(run.phases)) {
    report.offline = slice(timeline, kStageMoments, total - phase, total);
    if (source != nullptr) report.offline_results = slice(source->results(), kResultMoments, total - phase, total);
  }
}

}  // namespace paretopipe::stage
