#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>

#include "samples.hpp"

using namespace paretopipe;
using record::Part;

TEST_CASE("the parts of every batch's latency add up to it, to the nanosecond, for any number of stages") {
  std::mt19937 random(1);
  for (int stages = 1; stages <= 5; ++stages) {
    for (int round = 0; round < 20; ++round) {
      const auto samples = testing::random_samples(random, stages, 12, round % 12);
      const auto breakdown = stats::breakdown(samples);
      REQUIRE(breakdown.latency_ns.size() == 12);
      for (std::size_t batch = 0; batch < 12; ++batch) {
        std::int64_t sum = 0;
        for (const auto& part : breakdown.parts) {
          REQUIRE(part.ns[batch] >= 0);
          sum += part.ns[batch];
        }
        REQUIRE(sum == breakdown.latency_ns[batch]);
        REQUIRE(sum == samples.results.completed[batch] - samples.stages[0].receive_begin[batch]);
      }
    }
  }
}

TEST_CASE("the parts come in the order in which a batch passes them, at the stage where they happen") {
  const auto breakdown = stats::breakdown(testing::regular_samples({5000, 4000, 3000, 2000, 50'000}, 3, 1, 1));
  const std::vector<std::tuple<Part, int, std::int64_t>> expected{
      {Part::queue, 0, testing::kWait}, {Part::compute, 0, 5000},  {Part::encode, 0, 0},
      {Part::send_queue, 0, 0},         {Part::transfer, 1, 4000}, {Part::decode, 1, 0},
      {Part::queue, 1, testing::kWait}, {Part::compute, 1, 3000},  {Part::encode, 1, 0},
      {Part::send_queue, 1, 0},         {Part::transfer, 0, 2000}, {Part::decode, 0, 0}};
  REQUIRE(breakdown.parts.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [part, stage, ns] = expected[i];
    CHECK(breakdown.parts[i].part == part);
    CHECK(breakdown.parts[i].stage == stage);
    CHECK(breakdown.parts[i].ns == std::vector<std::int64_t>(3, ns));
  }
}

TEST_CASE(
    "a batch's latency reaches from its hand-over to its last micro-batch's completion, and its parts add up to it") {
  std::mt19937 random(5);
  for (int stages = 1; stages <= 4; ++stages) {
    for (const int micro_batches : {1, 2, 3, 12}) {
      const auto samples = testing::micro_batched(testing::random_samples(random, stages, 12, 0), micro_batches);
      const auto breakdown = stats::breakdown(samples);
      const auto step = static_cast<std::size_t>(micro_batches);
      REQUIRE(breakdown.latency_ns.size() == 12 / step);
      for (std::size_t batch = 0; batch < 12 / step; ++batch) {
        std::int64_t sum = 0;
        for (const auto& part : breakdown.parts) {
          REQUIRE(part.ns.size() == 12 / step);
          REQUIRE(part.ns[batch] >= 0);
          sum += part.ns[batch];
        }
        const auto last = batch * step + step - 1;
        REQUIRE(sum == breakdown.latency_ns[batch]);
        REQUIRE(sum == samples.results.completed[last] - samples.stages[0].receive_begin[batch * step]);
      }
      REQUIRE(stats::micro_batch_breakdown(samples).latency_ns.size() == 12);
    }
  }
}

TEST_CASE("what a batch's last micro-batch waits while the stage computes the micro-batches before it is queue") {
  // Four micro-batches, handed over together, of which a stage alone computes one every 5 us.
  auto samples = testing::alone(testing::regular_samples({4000, 0, 0, 0, 5000}, 4, 0, 1));
  samples = testing::micro_batched(std::move(samples), 4);
  for (const auto& [part, stage, ns] : stats::breakdown(samples).parts) {
    CHECK(ns.size() == 1);
    if (part == Part::queue) CHECK(ns[0] == 3 * 5000 + testing::kWait);
    if (part == Part::compute) CHECK(ns[0] == 4000);
  }
}

TEST_CASE("where all is local nothing is transferred or waits to be sent") {
  const auto samples = testing::alone(testing::regular_samples({5000, 0, 0, 0, 50'000}, 3, 1, 1));
  for (const auto& part : stats::breakdown(samples).parts) {
    CHECK(part.stage == 0);
    CHECK(part.part != Part::transfer);
    CHECK(part.part != Part::send_queue);
  }
}

TEST_CASE("a stage without moments took no part") {
  auto samples = testing::alone(testing::regular_samples({5000, 0, 0, 0, 50'000}, 3, 1, 1));
  samples.stages.emplace_back();
  CHECK(stats::stage_count(samples) == 1);
  CHECK(stats::breakdown(samples).latency_ns == std::vector<std::int64_t>(3, 5000 + testing::kWait));
}

TEST_CASE("damaged samples are refused") {
  const auto good = testing::regular_samples({5000, 4000, 3000, 2000, 50'000}, 3, 1, 1);
  auto shortened = good;
  shortened.stages[1].encoded.pop_back();
  CHECK_THROWS_AS(stats::breakdown(shortened), UsageError);
  auto results_missing = good;
  results_missing.results.receive_end.clear();
  CHECK_THROWS_AS(stats::breakdown(results_missing), UsageError);
  auto nothing_measured = good;
  nothing_measured.warmup = 3;
  CHECK_THROWS_AS(stats::breakdown(nothing_measured), UsageError);
  auto negative_warmup = good;
  negative_warmup.warmup = -1;
  CHECK_THROWS_AS(stats::breakdown(negative_warmup), UsageError);
  CHECK_THROWS_AS(stats::breakdown(record::PhaseSamples{}), UsageError);
  for (const int micro_batches : {0, -1, 2, 4}) {
    auto no_batches = good;
    no_batches.micro_batches = micro_batches;
    CAPTURE(micro_batches);
    CHECK_THROWS_AS(stats::breakdown(no_batches), UsageError);
  }
  auto apart = good;
  apart.warmup = 0;
  apart.micro_batches = 3;
  CHECK_THROWS_AS(stats::breakdown(apart), UsageError);
  CHECK_NOTHROW(stats::breakdown(testing::micro_batched(apart, 3)));
  apart.warmup = 1;  // of one batch
  CHECK_THROWS_AS(stats::breakdown(testing::micro_batched(apart, 3)), UsageError);
}
