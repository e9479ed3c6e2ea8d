#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/run/server_phase.hpp>

#include <cmath>

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

/// Converts moments to the time since the beginning of the schedule, whose first arrival is at `first`.
ServerTimeline since_beginning(ServerTimeline moments, std::int64_t first) {
  const auto begin = moments.scheduled.front() - first;
  for (auto* series : {&moments.scheduled, &moments.handed_over, &moments.completed}) {
    for (auto& moment : *series) moment -= begin;
  }
  return moments;
}

ServerEvidence measure(double rate, const experiment::Trial& trial, const std::vector<stage::Run>& others,
                       const RunStages& run) {
  const auto requests = requests_at(rate, trial, others);
  ServerEvidence evidence{{rate, trial.warmup, {}, {}}, run(requests)};
  const auto& moments = evidence.reports.front().server;
  if (moments.scheduled.empty()) throw Error(ExitCode::internal, "stage 0 reported a Server phase without queries");
  evidence.measured.moments = since_beginning(moments, requests.front().arrivals.front());
  evidence.measured.summary = stats::summarise_server(evidence.measured.moments, trial.warmup, trial.batch);
  return evidence;
}

}  // namespace

void run_server_phases(const experiment::Trial& trial, const std::vector<stage::Run>& requests, const RunStages& run,
                       TrialEvidence& evidence) {
  if (!trial.server || !fidelity_of(trial, evidence).kept()) return;
  const auto right_at = [&](double rate) {
    evidence.server.push_back(measure(rate, trial, requests, run));
    return fidelity_of(trial, evidence).kept();
  };
  const auto& bound = trial.server->bound;
  if (!bound) {
    right_at(trial.server->rate_image_per_s);
    return;
  }
  MaxRateSearch search(offline_throughput(trial, evidence) / 2);
  while (const auto rate = search.next()) {
    if (!right_at(*rate)) return;
    search.tried(stats::keeps(evidence.server.back().measured.summary, *bound));
  }
}

}  // namespace paretopipe::run
