#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/outliers.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <vector>

#include <support/catch.hpp>

#include "samples.hpp"

using namespace paretopipe;
using stats::leading_slow;

namespace {

using Series = std::vector<std::int64_t>;

constexpr int kWarmUpBatches = 2;
const testing::Durations kAloneDurations{5000, 4000, 3000, 2000, 50'000};
const testing::Durations kLoadedDurations{5000, 4000, 3000, 2000, 10'000};

record::PhaseSamples single_stream() {
  return testing::regular_samples(kAloneDurations, 14, kWarmUpBatches, 1);
}

record::PhaseSamples offline() {
  return testing::regular_samples(kLoadedDurations, 14, kWarmUpBatches, 4);
}

/// From `batch` on everything comes later, as after one slow batch in a full pipeline.
void delay_completions(record::PhaseSamples& samples, std::size_t batch, std::int64_t by) {
  auto& completed = samples.results.completed;
  std::for_each(completed.begin() + static_cast<std::ptrdiff_t>(batch), completed.end(),
                [by](auto& moment) { moment += by; });
}

}  // namespace

TEST_CASE("the slow durations at the beginning are warm-up, up to the first that is not", "[warmup]") {
  for (const auto& [series, slow] : {std::pair(Series{100, 100, 100, 100, 100, 100, 100, 100}, 0),
                                     {{900, 100, 100, 100, 100, 100, 100, 100}, 1},
                                     {{900, 300, 100, 900, 100, 100, 100, 100}, 2},
                                     {{100, 900, 100, 100, 100, 100, 100, 100}, 0},  // not at the beginning
                                     {{100, 100, 100, 100, 100, 100, 100, 900}, 0},
                                     {{900, 900, 900, 900, 100, 100, 100, 100}, 4},  // at most half
                                     {{800, 700, 600, 500, 500, 400, 300, 200}, 0},  // no settled half to compare with
                                     {{150, 120, 90, 110, 80, 120, 100, 140}, 0},    // the settled half's spread
                                     {{900, 100, 100, 100, 100, 100, 100}, 0},       // fewer than eight
                                     {{}, 0}}) {
    CAPTURE(series);
    CHECK(leading_slow(series) == slow);
  }
}

TEST_CASE("a phase that settles late loses its first measured batches too", "[warmup]") {
  auto alone = single_stream();
  CHECK(stats::settled_latency_warmup(alone) == kWarmUpBatches);
  alone.results.completed[kWarmUpBatches - 1] += 30'000;  // a slow one among the warm-up ones lengthens nothing
  CHECK(stats::settled_latency_warmup(alone) == kWarmUpBatches);
  alone.results.completed[kWarmUpBatches] += 30'000;
  alone.results.completed[kWarmUpBatches + 1] += 20'000;
  CHECK(stats::settled_latency_warmup(alone) == kWarmUpBatches + 2);

  auto loaded = offline();
  CHECK(stats::settled_throughput_warmup(loaded) == kWarmUpBatches);
  delay_completions(loaded, kWarmUpBatches + 1, 90'000);
  CHECK(stats::settled_throughput_warmup(loaded) == kWarmUpBatches + 1);
}

TEST_CASE("an outlier is named by its batch, in the phase in which it was one", "[outliers]") {
  auto alone = single_stream();
  auto loaded = offline();
  alone.results.completed[0] += 30'000;  // a warm-up batch is none
  CHECK(stats::find_outliers(alone, loaded).empty());
  alone.results.completed[7] += 10'000;
  delay_completions(loaded, 9, 50'000);
  const auto found = stats::find_outliers(alone, loaded);
  CHECK(found.single_stream == std::vector{7});
  CHECK(found.offline == std::vector{9});
}

TEST_CASE("samples of unequal lengths are refused by all that look at a phase's pace", "[warmup]") {
  auto damaged = single_stream();
  damaged.results.completed.pop_back();
  CHECK_THROWS_AS(stats::settled_latency_warmup(damaged), UsageError);
  CHECK_THROWS_AS(stats::settled_throughput_warmup(damaged), UsageError);
  CHECK_THROWS_AS(stats::find_outliers(damaged, offline()), UsageError);
}
