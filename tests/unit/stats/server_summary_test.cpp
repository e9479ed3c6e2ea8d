#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/plan.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/queueing.hpp>

using namespace paretopipe;
using experiment::LatencyBound;
using experiment::LatencyStatistic;
using stats::summarise_server;
using support::contains;

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

/// Five queries, the first to warm up. One has to wait at the source.
ServerTimeline a_phase() {
  return {{0, 10, 20, 40, 50}, {0, 10, 25, 40, 50}, {9, 14, 32, 46, 70}};
}

/// What a server that takes a second for every query would have seen of 4000.
ServerTimeline simulated(double rate_per_s) {
  ServerTimeline phase;
  phase.scheduled = experiment::poisson_arrivals(rate_per_s, 4000, 3);
  const auto waits = support::lindley_waits(phase.scheduled, kSecondNs);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    phase.handed_over.push_back(phase.scheduled[i] + waits[i]);
    phase.completed.push_back(phase.handed_over[i] + kSecondNs);
  }
  return phase;
}

std::string complaint(const ServerTimeline& phase, int warmup = 1) {
  return support::message_of<UsageError>([&] { summarise_server(phase, warmup, 1); });
}

record::ServerRun tried(double rate, double p99_ns, bool saturated = false) {
  record::ServerRun run;
  run.rate_image_per_s = rate;
  run.summary.latency.p99_ns = p99_ns;
  run.summary.saturated = saturated;
  return run;
}

}  // namespace

TEST_CASE("latency is from the scheduled arrival, and the wait at the source is part of it") {
  const auto summary = summarise_server(a_phase(), 1, 1);
  CHECK(summary.latency.count == 4);
  CHECK(summary.latency.min_ns == 4);
  CHECK(summary.latency.mean_ns == (4 + 12 + 6 + 20) / 4.0);
  CHECK(summary.latency.max_ns == 20);
  CHECK(summary.source_wait_mean_ns == 5 / 4.0);
}

TEST_CASE("rates are of the measured queries, in images per second") {
  const auto summary = summarise_server(a_phase(), 1, 8);
  CHECK(summary.offered_image_per_s == 3 * 8 * 1e9 / 40);
  CHECK(summary.achieved_image_per_s == 3 * 8 * 1e9 / 56);
  CHECK(summary.saturated);
  const auto all = summarise_server(a_phase(), 0, 1);
  CHECK(all.offered_image_per_s == 4 * 1e9 / 50);
  CHECK(all.latency.count == 5);
}

TEST_CASE("a pipeline keeps up as long as it completes 95 % of what arrives in the same time") {
  const auto with_last = [](std::int64_t completed) {
    return summarise_server({{0, 95'000}, {0, 95'000}, {10, completed}}, 0, 1).saturated;
  };
  CHECK_FALSE(with_last(95'010));
  CHECK_FALSE(with_last(100'010));
  CHECK(with_last(100'011));
}

TEST_CASE("a queue that grows is told from one that does not") {
  for (const double rho : {0.3, 0.7, 0.9, 1.1, 1.5, 4.0}) {
    CAPTURE(rho);
    CHECK(summarise_server(simulated(rho), 4, 1).saturated == (rho > 1));
  }
}

TEST_CASE("damaged moments are refused with what is wrong") {
  using Damage = void (*)(ServerTimeline&);
  for (const auto& [damage, said] : std::initializer_list<std::pair<Damage, const char*>>{
           {[](auto& phase) { phase.handed_over.pop_back(); }, "different lengths"},
           {[](auto& phase) { std::swap(phase.scheduled[2], phase.scheduled[3]); }, "back in time"},
           {[](auto& phase) { std::swap(phase.completed[2], phase.completed[3]); }, "back in time"},
           {[](auto& phase) { phase.handed_over[2] = 19; }, "back in time"},
           {[](auto& phase) { phase.handed_over[3] = 47; }, "back in time"},
           {[](auto& phase) { phase = {}; }, "0 were run"}}) {
    auto phase = a_phase();
    damage(phase);
    CHECK(contains(complaint(phase), said));
  }
  CHECK(contains(complaint(a_phase(), 4), "5 were run, 4 of them"));
  CHECK(contains(complaint(a_phase(), -1), "-1 of them"));
  CHECK(complaint(a_phase(), 3) == "(nothing was thrown)");
}

TEST_CASE("two queries at one moment are no division by nothing") {
  const auto summary = summarise_server({{5, 5}, {5, 5}, {6, 6}}, 0, 1);
  CHECK(summary.offered_image_per_s == 1e9);
  CHECK(summary.achieved_image_per_s == 1e9);
}

TEST_CASE("a bound is kept below its limit, by the statistic that it names, and by who keeps up") {
  record::ServerSummary summary;
  summary.latency = {9, 1, 20, 30, 40, 50, 60, 70};
  const std::vector<std::pair<LatencyStatistic, std::int64_t>> values{
      {LatencyStatistic::mean, 20}, {LatencyStatistic::p50, 30}, {LatencyStatistic::p90, 40},
      {LatencyStatistic::p95, 50},  {LatencyStatistic::p99, 60}, {LatencyStatistic::max, 70}};
  for (const auto& [statistic, value] : values) {
    CAPTURE(value);
    CHECK_FALSE(stats::keeps(summary, {statistic, value}));
    CHECK(stats::keeps(summary, {statistic, value + 1}));
  }
  summary.saturated = true;
  CHECK_FALSE(stats::keeps(summary, {LatencyStatistic::max, 1000}));
}

TEST_CASE("a search's answer lies between the highest rate that kept the bound and the lowest that did not") {
  const LatencyBound bound{LatencyStatistic::p99, 100};
  const auto both = stats::max_rate_of({tried(8, 90), tried(16, 300), tried(11, 99), tried(13, 50, true)}, bound);
  CHECK(both == record::MaxRate{11, 13});
  CHECK(stats::max_rate_of({tried(8, 100), tried(4, 101)}, bound) == record::MaxRate{std::nullopt, 4});
  CHECK(stats::max_rate_of({tried(8, 10), tried(16, 10)}, bound) == record::MaxRate{16, std::nullopt});
  CHECK(stats::max_rate_of({}, bound) == record::MaxRate{});
}
