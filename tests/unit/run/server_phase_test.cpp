#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/run/server_phase.hpp>

#include <cmath>
#include <functional>

#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/queueing.hpp>

#include "evidence.hpp"

using namespace paretopipe;
using experiment::LatencyBound;
using experiment::LatencyStatistic;
using record::TrialRecord;

namespace {

constexpr std::int64_t kService = 10'000'000;  // 100 batches per second
constexpr int kServerWarmup = 3;

/// A trial with one batch of 8 images in 10 ms.
experiment::Trial loaded_trial(std::optional<experiment::ServerLoad> load) {
  auto trial = testing::make_trial(3);
  trial.warmup = kServerWarmup;
  trial.server = load;
  return trial;
}

/// What its other phases have as evidence.
run::TrialEvidence other_phases_of(const experiment::Trial& trial) {
  const auto record = testing::make_record(trial, {9'000'000, 4'000'000, 3'000'000, 20'000}, 8000);
  return testing::evidence_of(*record.single_stream, *record.offline);
}

/// Stages without a process: the queue of one server whose service takes no more and no less than kService, on a clock
/// of any origin.
class Simulation {
 public:
  std::vector<stage::RunReport> operator()(const std::vector<stage::Run>& requests) {
    requests_.push_back(requests);
    std::vector<stage::RunReport> reports(requests.size());
    const auto& arrivals = requests.front().arrivals;
    const auto waits = support::lindley_waits(arrivals, kService);
    auto& [scheduled, handed_over, completed] = reports.front().server;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      scheduled.push_back(kOrigin + arrivals[i]);
      handed_over.push_back(scheduled[i] + waits[i]);
      completed.push_back(handed_over[i] + kService);
    }
    for (auto& report : reports) {
      report.usage.minor_page_faults = 7;
      report.peak_rss_bytes = 123'456'789'000;
      report.conditions = {1, 2, host::CpuTime{3, 4, 5}};
    }
    reports.front().max_abs_difference = difference_;
    reports.front().mean_abs_difference = difference_ / 2;
    reports.front().top1_agreement = difference_ == 0 ? 1 : 0.5;
    return reports;
  }
  std::vector<std::vector<stage::Run>> requests_;
  double difference_ = 0;

 private:
  static constexpr std::int64_t kOrigin = 5'000'000'000'000;
};

TrialRecord measured(const experiment::Trial& trial, Simulation& simulation, run::TrialEvidence evidence) {
  stage::Run request;
  request.stage_count = 2;
  request.warmup = kServerWarmup;
  request.batches = trial.batches;
  run::run_server_phases(trial, {request, request}, std::ref(simulation), evidence);
  return run::finish_record(trial, evidence);
}

TrialRecord measured(const experiment::Trial& trial, Simulation& simulation) {
  return measured(trial, simulation, other_phases_of(trial));
}

}  // namespace

TEST_CASE("a trial without a Server phase, or whose output is wrong already, gets none") {
  Simulation simulation;
  const auto plain = loaded_trial(std::nullopt);
  CHECK(measured(plain, simulation) == run::finish_record(plain, other_phases_of(plain)));
  const auto trial = loaded_trial(experiment::ServerLoad{10, std::nullopt, 5});
  auto wrong = other_phases_of(trial);
  wrong.reports.front().max_abs_difference = 1;
  const auto failed = measured(trial, simulation, wrong);
  CHECK(failed.status == record::Status::failed);
  CHECK(failed == run::finish_record(trial, wrong));
  CHECK(simulation.requests_.empty());
}

TEST_CASE("a rate is one run of the same stages: as many queries as were asked for, and the source has the schedule") {
  Simulation simulation;
  const auto record = measured(loaded_trial(experiment::ServerLoad{400, std::nullopt, 20}), simulation);
  REQUIRE(simulation.requests_.size() == 1);
  const auto& requests = simulation.requests_.front();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].server);
  CHECK(requests[1].server);
  CHECK(requests[0].batches == 20);
  CHECK(requests[0].arrivals.size() == kServerWarmup + 20U);
  CHECK(requests[1].arrivals.empty());
  REQUIRE(record.server);
  REQUIRE(record.server->runs.size() == 1);
  const auto& run = record.server->runs.front();
  CHECK(run.moments.scheduled == requests[0].arrivals);
  CHECK(run.rate_image_per_s == 400);
  CHECK(run.warmup == kServerWarmup);
  CHECK(run.summary.latency.count == 20);
  CHECK(run.summary.latency.min_ns >= kService);
  CHECK_FALSE(record.server->max_rate);
}

TEST_CASE("every repetition has arrivals of its own") {
  Simulation simulation;
  auto trial = loaded_trial(experiment::ServerLoad{400, std::nullopt, 20});
  measured(trial, simulation);
  trial.repetition = 1;
  measured(trial, simulation);
  CHECK(simulation.requests_[0].front().arrivals != simulation.requests_[1].front().arrivals);
}

TEST_CASE("the record is whole: it passes the check, and comes back from JSON") {
  Simulation simulation;
  for (const auto& load : {experiment::ServerLoad{400, std::nullopt, 50},
                           experiment::ServerLoad{0, LatencyBound{LatencyStatistic::p90, 3 * kService}, 50}}) {
    const auto record = measured(loaded_trial(load), simulation);
    CHECK_NOTHROW(stats::check_summary(record));
    const auto back = testing::written_and_read(record);
    CHECK(back == record);
    CHECK_NOTHROW(stats::check_summary(back));
  }
}

TEST_CASE("the mean latency of one stage is that of an M/D/1 queue") {
  Simulation simulation;
  for (const double rho : {0.3, 0.6, 0.8}) {
    const auto record = measured(loaded_trial(experiment::ServerLoad{rho * 800, std::nullopt, 50'000}), simulation);
    const auto& summary = record.server->runs.front().summary;
    const double expected = static_cast<double>(kService) + support::md1_mean_wait_ns(rho, kService);
    CAPTURE(rho, summary.latency.mean_ns, expected);
    CHECK(std::abs(summary.latency.mean_ns / expected - 1) < 0.05);
    CHECK_FALSE(summary.saturated);
  }
  CHECK(measured(loaded_trial(experiment::ServerLoad{1000, std::nullopt, 5000}), simulation)
            .server->runs.front()
            .summary.saturated);
}

TEST_CASE("a search ends at the highest rate that keeps the bound, with all that it tried as evidence") {
  Simulation simulation;
  const LatencyBound bound{LatencyStatistic::mean, 15'000'000};  // M/D/1: rho / (2 (1 - rho)) = 1/2 at rho = 1/2
  const auto record = measured(loaded_trial(experiment::ServerLoad{0, bound, 50'000}), simulation);
  REQUIRE(record.server);
  REQUIRE(record.server->max_rate);
  const auto& [kept, missed] = *record.server->max_rate;
  REQUIRE(kept);
  REQUIRE(missed);
  CAPTURE(*kept, *missed);
  CHECK(*missed <= 1.05 * *kept);
  CHECK(*kept < 1.03 * 400);
  CHECK(*missed > 0.97 * 400);
  CHECK(record.server->runs.size() == simulation.requests_.size());
  CHECK(record.server->runs.front().rate_image_per_s == record.summary->throughput_image_per_s.value() / 2);
}

TEST_CASE("a bound that no rate can keep ends without a rate, and the record says what was tried") {
  Simulation simulation;
  const auto record =
      measured(loaded_trial(experiment::ServerLoad{0, LatencyBound{LatencyStatistic::p50, kService}, 20}), simulation);
  CHECK(record.status == record::Status::ok);
  CHECK_FALSE(record.server->max_rate->kept_image_per_s);
  CHECK(record.server->max_rate->missed_image_per_s == record.summary->throughput_image_per_s.value() / 16);
  CHECK(record.server->runs.size() == 4);
  CHECK_NOTHROW(stats::check_summary(record));
}

TEST_CASE("what the stages used, and how their CPUs were, covers all phases") {
  Simulation simulation;
  const auto trial = loaded_trial(experiment::ServerLoad{400, std::nullopt, 20});
  auto known = other_phases_of(trial);
  known.reports[0].conditions = host::CpuConditions{10, 20, host::CpuTime{30, 40, 50}};
  known.reports[0].peak_rss_bytes = 5;
  const auto before = run::finish_record(trial, known);
  const auto record = measured(trial, simulation, known);
  CHECK(record.stages[0].usage.minor_page_faults == before.stages[0].usage.minor_page_faults + 7);
  CHECK(record.stages[0].conditions == host::CpuConditions{10, 2, host::CpuTime{33, 44, 55}});
  CHECK(record.stages[0].peak_rss_bytes == 123'456'789'000);
  CHECK(record.fidelity->batches_compared == before.fidelity->batches_compared + kServerWarmup + 20);
}

TEST_CASE("a wrong output under load fails the trial, ends the search, and leaves no result") {
  Simulation simulation;
  simulation.difference_ = 0.25;
  const auto record =
      measured(loaded_trial(experiment::ServerLoad{0, LatencyBound{LatencyStatistic::p99, kService}, 20}), simulation);
  CHECK(record.status == record::Status::failed);
  CHECK(record.failure->phase == "check");
  CHECK(support::contains(record.failure->reason, "0.25"));
  CHECK(simulation.requests_.size() == 1);
  CHECK_FALSE(record.server);
  CHECK_FALSE(record.summary);
  CHECK(record.fidelity->top1_agreement < 1);
  // 0 in the phases before, 0.125 in this one, and top-1 agreement 1 and 0.5: pooled alike.
  CHECK(*record.fidelity->mean_abs_difference == Approx(0.25 * (1 - record.fidelity->top1_agreement)));
  CHECK(nlohmann::json(record).get<TrialRecord>() == record);
}
