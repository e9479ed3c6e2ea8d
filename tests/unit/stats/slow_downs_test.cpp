#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include <support/catch.hpp>

#include "dealt_samples.hpp"
#include "samples.hpp"

using namespace paretopipe;
using stats::find_rise;

namespace {

using Series = std::vector<std::int64_t>;

constexpr int kWarmup = 2;

/// Durations that scatter by 5 %, as on a quiet machine; `factor` times as long from `from` on.
Series noisy(std::size_t count, std::size_t from, double factor, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> scatter(1'000'000, 50'000);
  Series series;
  for (std::size_t i = 0; i < count; ++i) {
    series.push_back(static_cast<std::int64_t>(scatter(random) * (i < from ? 1 : factor)));
  }
  return series;
}

/// The same batches, of which stage 1 computes those from `batch` on `longer` longer, as everything after them shows.
record::PhaseSamples slower_from(record::PhaseSamples samples, std::size_t batch, std::int64_t longer) {
  auto& stage = samples.stages.at(1);
  std::int64_t late = 0;
  for (std::size_t i = batch; i < stage.ready.size(); ++i) {
    late += longer;
    for (auto* moments : {&stage.compute_end, &stage.encoded, &stage.send_begin, &stage.send_end,
                          &samples.results.receive_begin, &samples.results.receive_end, &samples.results.completed}) {
      (*moments)[i] += late;
    }
    stage.compute_begin[i] += late - longer;
  }
  return samples;
}

record::PhaseSamples phase(int batches = 34) {
  return testing::regular_samples({5'000'000, 4000, 3'000'000, 2000, 50'000'000}, batches, kWarmup, 4);
}

}  // namespace

TEST_CASE("durations that become longer for good have risen, from where they did on", "[slow]") {
  const auto rise = find_rise(noisy(32, 20, 1.5));
  REQUIRE(rise);
  CHECK(rise->first == 20);
  CHECK(rise->after_ns / rise->before_ns == Approx(1.5).epsilon(0.1));
}

TEST_CASE("a rise is found wherever it is, with eight durations on both sides", "[slow]") {
  for (std::size_t from = 8; from <= 24; ++from) {
    CAPTURE(from);
    const auto rise = find_rise(noisy(32, from, 1.4));
    REQUIRE(rise);
    CHECK(rise->first == static_cast<int>(from));
  }
  CHECK_FALSE(find_rise(noisy(15, 7, 3)));
}

TEST_CASE("noise is no rise, in none of a thousand series", "[slow]") {
  int found = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) found += find_rise(noisy(32, 32, 1, seed)) ? 1 : 0;
  CHECK(found == 0);
}

TEST_CASE("wild noise is no rise either: now one length, now another", "[slow]") {
  std::mt19937 random(7);
  int found = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Series series;
    for (int i = 0; i < 32; ++i) series.push_back(random() % 2 == 0 ? 1'000'000 : 2'000'000);
    found += find_rise(series) ? 1 : 0;
  }
  CHECK(found <= 1);
}

TEST_CASE("less than a quarter more, becoming faster, and a burst that passes are no rise", "[slow]") {
  CHECK_FALSE(find_rise(noisy(64, 32, 1.15)));
  CHECK_FALSE(find_rise(noisy(64, 32, 0.5)));
  auto burst = noisy(64, 64, 1);
  for (std::size_t i = 20; i < 40; ++i) burst[i] *= 3;
  CHECK_FALSE(find_rise(burst));
  auto late_burst = noisy(64, 64, 1);
  for (std::size_t i = 60; i < 64; ++i) late_burst[i] *= 3;
  CHECK_FALSE(find_rise(late_burst));
}

TEST_CASE("outliers on either side neither make a rise nor hide one", "[slow]") {
  auto series = noisy(40, 20, 1.6);
  series[3] *= 30;
  series[30] /= 3;
  REQUIRE(find_rise(series));
  CHECK(find_rise(series)->first == 20);
  auto level = noisy(40, 40, 1);
  level[25] *= 30;
  level[33] *= 30;
  CHECK_FALSE(find_rise(level));
}

TEST_CASE("a rise by less than a tenth of a millisecond is none, for caches get cold in a pipeline that waits",
          "[slow]") {
  auto series = noisy(40, 20, 1.5);
  for (auto& duration : series) duration /= 10;  // from 100 to 150 us
  CHECK_FALSE(find_rise(series));
}

TEST_CASE("durations that are all alike, or none, are no rise", "[slow]") {
  CHECK_FALSE(find_rise({}));
  CHECK_FALSE(find_rise(Series(100, 5)));
  CHECK_FALSE(find_rise(Series(100, 0)));
}

TEST_CASE("a long series is looked at in groups, and the place is right to a group", "[slow]") {
  const auto rise = find_rise(noisy(100'000, 60'000, 1.3));
  REQUIRE(rise);
  CHECK(std::abs(rise->first - 60'000) <= 800);
}

TEST_CASE("a stage that became slower in a phase is found there, and no other", "[slow]") {
  const auto slow = slower_from(phase(), 20, 2'000'000);
  CHECK(stats::find_slow_downs(phase(), phase()).empty());
  const auto offline = stats::find_slow_downs(phase(), slow);
  REQUIRE(offline.size() == 1);
  CHECK(offline.front() == record::SlowDown{true, 1, 20, 3e6, 5e6});
  const auto alone = stats::find_slow_downs(slow, phase());
  REQUIRE(alone.size() == 1);
  CHECK(alone.front() == record::SlowDown{false, 1, 20, 3e6, 5e6});
}

TEST_CASE("a little rise of a stage that waits for one that slowed down is that one's", "[slow]") {
  const auto both = [](std::int64_t own_ns, std::int64_t other_ns) {
    auto samples = slower_from(phase(), 20, other_ns);
    for (std::size_t batch = 20; batch < 34; ++batch) samples.stages[0].compute_begin[batch] -= own_ns;
    for (std::size_t batch = 0; batch < 34; ++batch) samples.stages[0].compute_begin[batch] += 4'000'000;
    return stats::find_slow_downs(phase(), samples);
  };
  REQUIRE(both(1'000'000, 9'000'000).size() == 1);
  CHECK(both(1'000'000, 9'000'000).front().stage == 1);
  CHECK(both(1'000'000, 3'000'000).size() == 2);
}

TEST_CASE("the micro-batches of a batch are one duration", "[slow]") {
  auto samples = slower_from(testing::micro_batched(phase(72), 2), 40, 2'000'000);
  samples.warmup = 1;
  const auto found = stats::find_slow_downs(phase(), samples);
  REQUIRE(found.size() == 1);
  CHECK(found.front().batch == 20);
  CHECK(found.front().before_ns == 6e6);
}

TEST_CASE("of batches that were dealt out the slow device is found, by its own batches", "[slow]") {
  auto samples = testing::dealt_samples({.devices = 2, .batches = 80, .compute = 600'000, .interval = 300'000});
  for (std::size_t batch = 41; batch < 80; batch += 2) {
    auto& device = samples.stages[1];
    for (auto* moments : {&device.compute_end, &device.encoded, &device.send_begin, &device.send_end,
                          &samples.results.receive_begin, &samples.results.receive_end, &samples.results.completed}) {
      (*moments)[batch] += 600'000;
    }
  }
  const auto found = stats::find_slow_downs(phase(), samples);
  REQUIRE(found.size() == 1);
  CHECK(found.front() == record::SlowDown{true, 1, 20, 600'000, 1'200'000});
}

TEST_CASE("batches that are warm-up do not count as the fast ones", "[slow]") {
  auto samples = slower_from(phase(), 10, 2'000'000);
  CHECK_FALSE(stats::find_slow_downs(phase(), samples).empty());
  samples.warmup = 10;
  CHECK(stats::find_slow_downs(phase(), samples).empty());
}

TEST_CASE("a slow-down is said in a sentence with its stage, its run and how much", "[slow]") {
  record::TrialRecord record;
  record.slow_downs = {{true, 1, 20, 3000, 5400}, {false, 0, 9, 1e6, 3e6}};
  CHECK(stats::slow_down_sentences(record) ==
        std::vector<std::string>{"stage 1 took 1.8 times as long for a batch from batch 20 of the throughput run on",
                                 "stage 0 took 3 times as long for a batch from batch 9 of the latency run on"});
}
