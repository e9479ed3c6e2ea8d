#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>

#include "samples.hpp"

using namespace paretopipe;
using record::Part;
using stats::Stretch;

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
    "with a codec a batch waits for the send thread before it is encoded, and both threads' encoding is one part") {
  auto samples = testing::regular_samples({5000, 4000, 3000, 2000, 50'000}, 3, 1, 1);
  auto& sender = samples.stages[0];
  for (auto& moment : sender.encoded) moment -= 700;
  for (auto& moment : sender.compute_end) moment -= 1000;
  for (auto& moment : sender.codec_begin) moment -= 500;
  for (const auto& [part, stage, ns] : stats::breakdown(samples).parts) {
    if (stage != 0) continue;
    if (part == Part::compute) CHECK(ns == std::vector<std::int64_t>(3, 4000));
    if (part == Part::send_queue) CHECK(ns == std::vector<std::int64_t>(3, 200));
    if (part == Part::encode) CHECK(ns == std::vector<std::int64_t>(3, 800));
  }
}

TEST_CASE(
    "a batch's latency reaches from its hand-over to its last micro-batch's completion, and its parts add up to it, to "
    "the nanosecond, for any number of stages") {
  std::mt19937 random(5);
  for (int stages = 1; stages <= 5; ++stages) {
    for (const std::size_t step : {1, 2, 3, 12}) {
      for (std::size_t warmup = 0; warmup < 12 / step; ++warmup) {
        const auto micro_batches = static_cast<int>(step);
        auto samples = testing::random_samples(random, stages, 12, static_cast<int>(warmup));
        samples = testing::micro_batched(std::move(samples), micro_batches);
        const auto breakdown = stats::breakdown(samples);
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

TEST_CASE("where all is local nothing is transferred or waits to be sent, and a stage without moments took no part") {
  auto samples = testing::alone(testing::regular_samples({5000, 0, 0, 0, 50'000}, 3, 1, 1));
  for (const auto& part : stats::breakdown(samples).parts) {
    CHECK(part.stage == 0);
    CHECK(part.part != Part::transfer);
    CHECK(part.part != Part::send_queue);
  }
  samples.stages.emplace_back();
  CHECK(stats::stage_count(samples) == 1);
  CHECK(stats::breakdown(samples).latency_ns == std::vector<std::int64_t>(3, 5000 + testing::kWait));
}

TEST_CASE("damaged samples are refused") {
  const auto good = testing::regular_samples({5000, 4000, 3000, 2000, 50'000}, 3, 1, 1);
  for (const auto damage : {+[](record::PhaseSamples& samples) { samples.stages[1].encoded.pop_back(); },
                            +[](record::PhaseSamples& samples) { samples.results.receive_end.clear(); },
                            +[](record::PhaseSamples& samples) { samples.warmup = 3; },
                            +[](record::PhaseSamples& samples) { samples.warmup = -1; },
                            +[](record::PhaseSamples& samples) { samples = {}; },
                            +[](record::PhaseSamples& samples) { samples.micro_batches = 0; },
                            +[](record::PhaseSamples& samples) { samples.micro_batches = -1; },
                            +[](record::PhaseSamples& samples) { samples.micro_batches = 2; },
                            +[](record::PhaseSamples& samples) { samples.micro_batches = 4; }}) {
    auto damaged = good;
    damage(damaged);
    CHECK_THROWS_AS(stats::breakdown(damaged), UsageError);
  }
  auto apart = good;
  apart.warmup = 0;
  apart.micro_batches = 3;
  CHECK_THROWS_AS(stats::breakdown(apart), UsageError);
  CHECK_NOTHROW(stats::breakdown(testing::micro_batched(apart, 3)));
  apart.warmup = 1;  // of one batch
  CHECK_THROWS_AS(stats::breakdown(testing::micro_batched(apart, 3)), UsageError);
}

TEST_CASE("bubbles are the stretches without compute within the window, none of them empty") {
  StageTimeline stage;
  stage.compute_begin = {0, 90, 110, 195};
  stage.compute_end = {50, 110, 140, 260};
  const auto bubbles = [&](std::int64_t first, std::int64_t last) { return stats::bubbles(stage, {first, last, 2}); };
  CHECK(bubbles(100, 200) == std::vector<Stretch>{{140, 195}});
  CHECK(bubbles(40, 150) == std::vector<Stretch>{{50, 90}, {140, 150}});
  CHECK(bubbles(60, 80) == std::vector<Stretch>{{60, 80}});
  CHECK(bubbles(50, 90) == std::vector<Stretch>{{50, 90}});
  CHECK(bubbles(195, 260).empty());
  CHECK(bubbles(250, 300) == std::vector<Stretch>{{260, 300}});
  CHECK(stats::bubbles(StageTimeline{}, {5, 7, 2}) == std::vector<Stretch>{{5, 7}});
}

TEST_CASE("the bubbles of a stage add up to the summary's share") {
  std::mt19937 random(11);
  for (const auto& [stages, micro_batches] : {std::pair(1, 1), {2, 1}, {3, 1}, {1, 2}, {3, 3}}) {
    const auto samples =
        testing::micro_batched(testing::random_samples(random, stages, 12 * micro_batches, 3), micro_batches);
    const auto summary = stats::summarise(samples, samples, 1, testing::ring_links(stages));
    const auto window = stats::completion_window(samples);
    for (std::size_t s = 0; s < summary.stages.size(); ++s) {
      double idle = 0;
      for (const auto& [begin, end] : stats::bubbles(samples.stages[s], window))
        idle += static_cast<double>(end - begin);
      CHECK(idle / window.length_ns() == Approx(summary.stages[s].bubble));
    }
  }
}

TEST_CASE("a window needs two completions after warm-up") {
  auto samples = testing::regular_samples({5000, 4000, 3000, 2000, 10'000}, 3, 1, 4);
  CHECK(stats::completion_window(samples).batches == 2);
  CHECK(stats::completion_window(samples).length_ns() == 10'000);
  const auto in_pairs = testing::micro_batched(testing::regular_samples({5000, 4000, 3000, 2000, 10'000}, 6, 1, 4), 2);
  CHECK(stats::completion_window(in_pairs).batches == 2);
  CHECK(stats::completion_window(in_pairs).length_ns() == 20'000);
  samples.warmup = 2;
  CHECK_THROWS_AS(stats::completion_window(samples), UsageError);
}
