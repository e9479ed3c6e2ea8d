#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "samples.hpp"

using namespace paretopipe;
using stats::Stretch;

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
    std::vector<record::LinkPayload> links;
    for (int from = 0; stages > 1 && from < stages; ++from) links.push_back({from, (from + 1) % stages, 8, 64});
    const auto summary = stats::summarise(samples, samples, 1, links);
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
