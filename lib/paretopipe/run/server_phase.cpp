#include <paretopipe/analysis/stats/server_summary.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/run/server_phase.hpp>
#include <paretopipe/run/trial_assembly.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace paretopipe::run {

void MaxRateSearch::tried(bool kept) {
  const double rate = next_.value();
  (kept ? kept_ : missed_) = rate;
  next_.reset();
  if (++tried_ == kMostRates) return;
  if (!missed_) {
    next_ = 2 * rate;
  } else if (!kept_) {
    if (rate > lowest_) next_ = rate / 2;
  } else if (*missed_ > (1 + kResolution) * *kept_) {
    next_ = std::sqrt(*kept_ * *missed_);
  }
}

namespace {

/// The requests for the phase at one rate, made from those for the trial's other phases.
std::vector<stage::Run> requests_at(double rate, const experiment::Trial& trial, std::vector<stage::Run> requests) {
  for (auto& request : requests) {
    request.server = true;
    request.batches = trial.server->queries;
  }
  auto& source = requests.front();
  source.arrivals =
      experiment::poisson_arrivals(rate / trial.batch, source.total_batches(), experiment::arrivals_seed(trial));
  return requests;
}

/// Converts moments to the time since the beginning of the schedule; its first arrival is at `first`.
ServerTimeline since_beginning(ServerTimeline moments, std::int64_t first) {
  const auto begin = moments.scheduled.front() - first;
  for (auto* series : {&moments.scheduled, &moments.handed_over, &moments.completed}) {
    for (auto& moment : *series) moment -= begin;
  }
  return moments;
}

/// Adds the report of a further run to a stage's.
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
  if (conditions.time && report.conditions.time) {
    conditions.time = *conditions.time + *report.conditions.time;
  } else {
    conditions.time.reset();
  }
}

/// Measures one rate after the other for one record.
class ServerPhases {
 public:
  ServerPhases(record::TrialRecord& record, const std::vector<stage::Run>& requests, const RunStages& run)
      : record_(record), requests_(requests), run_(run) {}

  /// The summary at one rate; none if the outputs were wrong, which ends the trial.
  std::optional<record::ServerSummary> measure(double rate) {
    const auto& trial = record_.trial;
    const auto requests = requests_at(rate, trial, requests_);
    const auto reports = run_(requests);
    const auto& source = reports.front();
    if (source.server.scheduled.empty())
      throw Error(ExitCode::internal, "stage 0 reported a Server phase without queries");
    for (std::size_t i = 0; i < reports.size(); ++i) extend(record_.stages[i], reports[i]);
    add_fidelity(record_, source, requests.front().total_batches());
    if (record_.status == record::Status::failed) return std::nullopt;
    record::ServerRun measured;
    measured.rate_image_per_s = rate;
    measured.warmup = trial.warmup;
    measured.moments = since_beginning(source.server, requests.front().arrivals.front());
    measured.summary = stats::summarise_server(measured.moments, measured.warmup, trial.batch);
    const auto summary = measured.summary;
    server_.runs.push_back(std::move(measured));
    return summary;
  }

  /// Leaves a failed record without any of it.
  void search(const experiment::LatencyBound& bound) {
    MaxRateSearch search(record_.summary->throughput_image_per_s.value() / 2);
    while (const auto rate = search.next()) {
      const auto summary = measure(*rate);
      if (!summary) return;
      search.tried(stats::keeps(*summary, bound));
    }
    server_.max_rate = stats::max_rate_of(server_.runs, bound);
  }

  record::ServerRecord take() { return std::move(server_); }

 private:
  record::TrialRecord& record_;
  const std::vector<stage::Run>& requests_;
  const RunStages& run_;
  record::ServerRecord server_;
};

}  // namespace

void add_server_phases(record::TrialRecord& record, const std::vector<stage::Run>& requests, const RunStages& run) {
  if (!record.trial.server || record.status == record::Status::failed) return;
  const auto& load = *record.trial.server;
  ServerPhases phases(record, requests, run);
  if (load.bound) {
    phases.search(*load.bound);
  } else {
    phases.measure(load.rate_image_per_s);
  }
  if (record.status != record::Status::failed) record.server = phases.take();
}

}  // namespace paretopipe::run
