#include <algorithm>

#include <support/catch.hpp>

#include "ring.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using stage::RunReport;

namespace {

using Moments = std::vector<std::int64_t>;

bool never_before(const Moments& later, const Moments& earlier) {
  return later.size() == earlier.size() &&
         std::equal(later.begin(), later.end(), earlier.begin(), std::greater_equal<>());
}

/// Of one stage in one phase: the moments of a batch never decrease, and each loop takes the batches in their order.
void require_order(const StageTimeline& stage, std::size_t batches) {
  for (std::size_t i = 0; i < kStageMoments.size(); ++i) {
    CAPTURE(i);
    const auto& moments = stage.*kStageMoments[i];
    REQUIRE(moments.size() == batches);
    REQUIRE(moments.front() > 0);
    REQUIRE(std::is_sorted(moments.begin(), moments.end()));
    if (i > 0) REQUIRE(never_before(moments, stage.*kStageMoments[i - 1]));
  }
  const Moments next_begins(stage.compute_begin.begin() + 1, stage.compute_begin.end());
  REQUIRE(never_before(next_begins, {stage.encoded.begin(), stage.encoded.end() - 1}));
}

/// No batch has arrived before it was sent, and every result is the last thing that happens to its batch.
void require_causality(const std::vector<RunReport>& reports, StageTimeline RunReport::*phase,
                       ResultTimeline RunReport::*results) {
  for (std::size_t i = 1; i < reports.size(); ++i) {
    REQUIRE(never_before((reports[i].*phase).receive_begin, (reports[i - 1].*phase).send_begin));
  }
  const auto& back = reports.front().*results;
  REQUIRE(never_before(back.receive_begin, (reports.back().*phase).send_begin));
  REQUIRE(never_before(back.receive_end, back.receive_begin));
  REQUIRE(never_before(back.completed, back.receive_end));
}

/// A batch is handed over, all its micro-batches at one moment, once the last micro-batch of the batch `depth` before
/// it is back.
void require_depth(const Moments& handed_over, const Moments& completed, std::size_t depth, std::size_t micro_batches) {
  for (std::size_t i = 0; i < handed_over.size(); ++i) {
    const auto first = i - i % micro_batches;
    REQUIRE(handed_over[i] == handed_over[first]);
    if (i >= depth * micro_batches) REQUIRE(handed_over[i] >= completed[first - (depth - 1) * micro_batches - 1]);
  }
}

void require_sound(const std::vector<RunReport>& reports, const RingSetup& setup) {
  const auto micro_batches = static_cast<std::size_t>(setup.micro_batches);
  const auto entries = static_cast<std::size_t>(setup.warmup + setup.batches) * micro_batches;
  for (const auto& report : reports) {
    require_order(report.single_stream, entries);
    require_order(report.offline, entries);
  }
  require_causality(reports, &RunReport::single_stream, &RunReport::single_stream_results);
  require_causality(reports, &RunReport::offline, &RunReport::offline_results);
  const auto& source = reports.front();
  require_depth(source.single_stream.ready, source.single_stream_results.completed, 1, micro_batches);
  require_depth(source.offline.ready, source.offline_results.completed, static_cast<std::size_t>(setup.depth),
                micro_batches);
  REQUIRE(source.offline.ready.front() >= source.single_stream_results.completed.back());
  REQUIRE(source.single_stream.receive_begin == source.single_stream.ready);
  REQUIRE(source.max_abs_difference == 0);
  REQUIRE(source.top1_agreement == 1);
}

void require_ring(const RingSetup& setup, Ring::Connect connect) {
  require_sound(Ring(setup, connect).run(), setup);
}

}  // namespace

TEMPLATE_TEST_CASE("at every split all batches pass in order, and the moments never go back", "", TcpLoopback,
                   Socketpair) {
  for (int split = 0; split <= kBlocks; ++split) {
    CAPTURE(split);
    require_ring({.splits = {split}, .warmup = 2, .batches = 10, .depth = 4, .faults = {}}, TestType::connect);
  }
}

TEMPLATE_TEST_CASE("several cuts are a longer ring, where stages without blocks pass on what they get", "", TcpLoopback,
                   Socketpair) {
  for (const auto& splits :
       std::vector<std::vector<int>>{{1, 2}, {0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 3}, {0, 1, 2}, {1, 1, 1, 1}}) {
    CAPTURE(splits);
    require_ring({.splits = splits, .warmup = 1, .batches = 20, .depth = 7, .faults = {}}, TestType::connect);
  }
}

TEST_CASE("the depth bounds what is in flight from one batch to more than there are") {
  for (const int depth : {1, 2, 3, 5, 64}) {
    CAPTURE(depth);
    require_ring({.splits = {1}, .warmup = 0, .batches = 30, .depth = depth, .faults = {}}, Socketpair::connect);
  }
}

TEST_CASE(
    "micro-batches of a batch flow through rings of one to four stages, at any depth, and are put together again") {
  for (const auto& splits : std::vector<std::vector<int>>{{}, {1}, {3}, {1, 2}, {0, 1, 3}}) {
    for (const int micro_batches : {2, 7}) {
      for (const int depth : {1, 3}) {
        CAPTURE(splits, micro_batches, depth);
        require_ring(
            {.splits = splits, .warmup = 1, .batches = 6, .depth = depth, .micro_batches = micro_batches, .faults = {}},
            Socketpair::connect);
      }
    }
  }
}

TEST_CASE("more micro-batches than the buffers of a stage and of its sockets hold cannot block a ring") {
  require_ring({.splits = {1, 2}, .warmup = 0, .batches = 2, .depth = 2, .micro_batches = 100, .faults = {}},
               TcpLoopback::connect);
}

TEST_CASE("of a run of one phase nothing of the other one is reported, by any stage") {
  const auto offline = GENERATE(true, false);
  for (const auto& splits : std::vector<std::vector<int>>{{}, {1}, {1, 2}}) {
    RingSetup setup{.splits = splits, .warmup = 1, .batches = 6, .depth = 3, .micro_batches = 2, .faults = {}};
    setup.phases = offline ? experiment::Phases::offline : experiment::Phases::single_stream;
    CAPTURE(splits, offline);
    const auto reports = Ring(setup, Socketpair::connect).run();
    for (const auto& report : reports) {
      require_order(offline ? report.offline : report.single_stream, 14);
      CHECK((offline ? report.single_stream : report.offline) == StageTimeline{});
      CHECK((offline ? report.single_stream_results : report.offline_results) == ResultTimeline{});
    }
    const auto& source = reports.front();
    if (offline) {
      require_causality(reports, &RunReport::offline, &RunReport::offline_results);
      require_depth(source.offline.ready, source.offline_results.completed, 3, 2);
    } else {
      require_causality(reports, &RunReport::single_stream, &RunReport::single_stream_results);
      require_depth(source.single_stream.ready, source.single_stream_results.completed, 1, 2);
    }
    CHECK(source.max_abs_difference == 0);
    CHECK(source.top1_agreement == 1);
  }
}

TEST_CASE("one damaged micro-batch shows, whichever of its batch it is") {
  // 2 phases of 5 batches of 4 micro-batches.
  for (const auto* fault : {"wrong@1-3@1", "wrong@1-3@2", "wrong@1-3@4", "wrong@1-3@39", "wrong@1-3@40"}) {
    CAPTURE(fault);
    RingSetup setup;
    setup.micro_batches = 4;
    setup.faults = {"", fault};
    CHECK(Ring(setup, Socketpair::connect).run()[0].max_abs_difference > 0);
  }
}

TEST_CASE("one batch and no warm-up is the least that can run") {
  require_ring({.splits = {2}, .warmup = 0, .batches = 1, .depth = 1, .faults = {}}, Socketpair::connect);
}

TEST_CASE("a stage alone runs all blocks, and nothing is sent") {
  const RingSetup setup{.splits = {}, .warmup = 1, .batches = 6, .depth = 3, .faults = {}};
  const auto reports = Ring(setup, Socketpair::connect).run();
  require_sound(reports, setup);
  for (const auto& [stage, results] : {std::pair(reports[0].single_stream, reports[0].single_stream_results),
                                       std::pair(reports[0].offline, reports[0].offline_results)}) {
    CHECK(stage.send_begin == stage.encoded);
    CHECK(stage.send_end == stage.encoded);
    CHECK(results.receive_begin == stage.encoded);
    CHECK(results.receive_end == stage.encoded);
  }
}

TEST_CASE("only the source reports results and inputs' comparison") {
  const auto reports = Ring({}, Socketpair::connect).run();
  CHECK(reports[0].single_stream_results.completed.size() == 5);
  CHECK(reports[1].single_stream_results.completed.empty());
  CHECK(reports[1].offline_results.completed.empty());
}

TEST_CASE("a batch that was damaged on its way shows, whichever it is and wherever it happened") {
  // 10 batches: 1 + 4 of each phase.
  for (const auto& faults : std::vector<std::vector<std::string>>{
           {"wrong@0-1@1"}, {"wrong@0-1@10"}, {"", "wrong@1-3@1"}, {"", "wrong@1-3@6"}, {"", "nan@1-3@10"}}) {
    CAPTURE(faults);
    RingSetup setup;
    setup.faults = faults;
    const auto reports = Ring(setup, Socketpair::connect).run();
    CHECK(reports[0].max_abs_difference > 0);
  }
}
