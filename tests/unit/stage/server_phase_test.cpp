// A Server phase: the source alone, and whole rings.
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/source.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <numeric>

#include <support/catch.hpp>

#include "ring.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using stage::RunReport;
using stage::Source;

namespace {

/// Every 100 µs, the first at once.
Moments schedule(std::size_t batches) {
  Moments arrivals(batches);
  for (std::size_t i = 0; i < batches; ++i) arrivals[i] = static_cast<std::int64_t>(i) * 100'000;
  return arrivals;
}

RingSetup server_ring(std::vector<int> splits, int depth, int micro_batches, Moments arrivals) {
  RingSetup setup{.splits = std::move(splits), .warmup = 1, .depth = depth, .micro_batches = micro_batches};
  setup.batches = static_cast<int>(arrivals.size()) - setup.warmup;
  setup.arrivals = std::move(arrivals);
  return setup;
}

/// Every batch passed the source, on the schedule's moments and no others, with at most `depth` in flight.
void require_server_phase(const RunReport& source, const RingSetup& setup) {
  const auto& [scheduled, handed_over, completed] = source.server;
  REQUIRE(scheduled.size() == setup.arrivals.size());
  for (std::size_t i = 0; i < scheduled.size(); ++i) {
    REQUIRE(scheduled[i] - scheduled.front() == setup.arrivals[i] - setup.arrivals.front());
  }
  REQUIRE(never_before(handed_over, scheduled));
  REQUIRE(never_before(completed, handed_over));
  REQUIRE(std::is_sorted(handed_over.begin(), handed_over.end()));
  REQUIRE(std::is_sorted(completed.begin(), completed.end()));
  const auto depth = static_cast<std::size_t>(setup.depth);
  for (std::size_t i = depth; i < scheduled.size(); ++i) REQUIRE(handed_over[i] >= completed[i - depth]);
  REQUIRE(source.max_abs_difference == 0);
  REQUIRE(source.top1_agreement == 1);
  REQUIRE(source.single_stream.ready.empty());
  REQUIRE(source.offline_results.completed.empty());
}

}  // namespace

TEST_CASE("a schedule runs through rings of one to four stages, at any depth, whole batches and micro-batches") {
  for (const auto& splits : std::vector<std::vector<int>>{{}, {1}, {0}, {3}, {1, 2}, {0, 1, 3}}) {
    for (const int depth : {1, 3, 50}) {
      for (const int micro_batches : {1, 3}) {
        CAPTURE(splits, depth, micro_batches);
        const auto setup = server_ring(splits, depth, micro_batches, schedule(20));
        const auto reports = Ring(setup, Socketpair::connect).run();
        require_server_phase(reports.front(), setup);
        for (std::size_t i = 1; i < reports.size(); ++i) REQUIRE(reports[i].server.scheduled.empty());
      }
    }
  }
}

TEST_CASE("all batches may arrive at once: what is in flight is bounded, what waits is not; two are the least") {
  const auto setup = server_ring({1, 2}, 2, 1, Moments(300, 0));
  require_server_phase(Ring(setup, TcpLoopback::connect).run().front(), setup);
  const auto least = server_ring({1}, 1, 1, {5, 5});
  require_server_phase(Ring(least, Socketpair::connect).run().front(), least);
}

TEST_CASE("a late result moves no arrival: the schedule stays, and the latency has the wait") {
  const auto references = make_references(1);
  stage::Run run;
  run.batches = 3;
  run.server = true;
  run.arrivals = {0, 1000, 2000};
  Source source(run, references);
  auto following = std::async(std::launch::async, [&] { source.follow_schedule(); });
  Moments returned;
  for (std::size_t sequence = 0; sequence < 3; ++sequence) {
    REQUIRE(source.jobs().pop()->sequence == sequence);
    // As long as this one is not back, none of the others gets in: the depth is 1.
    const auto late = now_ns() + 5'000'000;
    while (now_ns() < late) {
    }
    returned.push_back(now_ns());
    source.complete(sequence, returned.back(), returned.back(), references.outputs.front());
  }
  following.get();
  const auto [scheduled, handed_over, completed] = source.server_timeline();
  CHECK(scheduled[1] - scheduled[0] == 1000);
  CHECK(scheduled[2] - scheduled[0] == 2000);
  CHECK(handed_over[1] >= returned[0]);
  CHECK(handed_over[2] >= returned[1]);
  CHECK(completed[2] - scheduled[2] >= 15'000'000 - 2000);
}

TEST_CASE("a batch that was damaged under load shows") {
  auto setup = server_ring({1}, 2, 1, schedule(10));
  for (const auto* fault : {"wrong@1-3@1", "wrong@1-3@10"}) {
    CAPTURE(fault);
    setup.faults = {"", fault};
    CHECK(Ring(setup, Socketpair::connect).run().front().max_abs_difference > 0);
  }
}

TEST_CASE("a stage that fails ends the phase, though the schedule goes on for hours") {
  auto setup = server_ring({1}, 2, 1, schedule(10));
  setup.arrivals.back() = 36'000'000'000'000;
  setup.faults = {"", "throw@1-3@5"};
  Ring ring(setup, Socketpair::connect);
  auto reports = ring.start();
  for (auto& report : reports) CHECK_THROWS(report.get());
}
