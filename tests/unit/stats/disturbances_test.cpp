#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <support/catch.hpp>

#include "dealt_samples.hpp"
#include "samples.hpp"

using namespace paretopipe;
using stats::find_rise;
using Sentences = std::vector<std::string>;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Two stages on CPUs of their own that used 0.4 s each of one second, on cores of constant speed.
record::TrialRecord calm_record() {
  auto record = testing::make_record(testing::make_trial(3), {5000, 4000, 3000, 2000, 0}, 8000);
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    auto& stage = record.stages[i];
    stage.cpus = std::to_string(i);
    stage.usage.user_time_ns = 4 * kSecond / 10;
    stage.conditions = host::CpuConditions{1000, 1000, host::CpuTime{kSecond, 4 * kSecond / 10, 0}};
  }
  return record;
}

}  // namespace

TEST_CASE("a disturbance is said with its stage and its share, and what is none is not said", "[disturbances]") {
  struct Case {
    const char* what;
    void (*happens)(record::TrialRecord&);
    Sentences said;
  };
  const std::vector<Case> cases{
      {"a trial that had its CPUs to itself", [](auto&) {}, {}},
      {"a tenth of the CPU time is other processes'",
       [](auto& record) { record.stages[1].conditions->time->busy_ns += kSecond / 10; },
       {}},
      {"more than a tenth is",
       [](auto& record) { record.stages[1].conditions->time->busy_ns += kSecond / 5; },
       {"other processes used 20 % of stage 1's CPUs (1)"}},
      {"no more than all of a CPU is said to be used, whatever the kernel's ticks come to",
       [](auto& record) { record.stages[0].conditions->time->busy_ns = 17 * kSecond / 10; },
       {"other processes used 100 % of stage 0's CPUs (0)"}},
      {"the host of a virtual machine took some",
       [](auto& record) { record.stages[0].conditions->time->stolen_ns = kSecond / 4; },
       {"the virtual machine's host took 25 % of stage 0's CPUs (0)"}},
      {"stages that share CPUs do not disturb each other",
       [](auto& record) {
         for (auto& stage : record.stages) {
           stage.cpus = record.stages[0].cpus;
           stage.conditions->time->busy_ns = 8 * kSecond / 10;
         }
       },
       {}},
      {"nor do stages that share some of them",
       [](auto& record) {
         record.stages[0].cpus = "0-1";
         record.stages[1].cpus = "1-2";
         for (auto& stage : record.stages) stage.conditions->time->busy_ns = 8 * kSecond / 10;
       },
       {}},
      {"the CPUs of another machine are others, whatever their numbers",
       [](auto& record) {
         for (auto& stage : record.stages) stage.cpus = "0-1";
         record.stages[1].host.boot_id = "elsewhere";
         record.stages[0].conditions->time->busy_ns = 8 * kSecond / 10;
       },
       {"other processes used 40 % of stage 0's CPUs (0-1)"}},
      {"the relay of an emulated network is no other process",
       [](auto& record) {
         record.trial.shaping = experiment::Shaping::emulated;
         record.stages[0].conditions->time->busy_ns = kSecond;
       },
       {}},
      {"beside the relay of an emulated network a thief is one all the same",
       [](auto& record) {
         record.trial.shaping = experiment::Shaping::emulated;
         record.stages[0].conditions->time->busy_ns = kSecond;
         record.stages[0].conditions->time->stolen_ns = kSecond / 2;
       },
       {"the virtual machine's host took 50 % of stage 0's CPUs (0)"}},
      {"two ticks of the kernel's clock are never a disturbance, however short the trial",
       [](auto& record) {
         for (auto& stage : record.stages) {
           stage.usage.user_time_ns = 0;
           stage.conditions->time = host::CpuTime{30'000'000, 20'000'000, 20'000'000};
         }
       },
       {}},
      {"a core changed its speed, in either direction",
       [](auto& record) {
         record.stages[0].conditions->probe_after_ns = 1300;
         record.stages[1].conditions->probe_before_ns = 1200;
       },
       {"stage 0's core became 30 % slower during the trial", "stage 1's core became 20 % faster during the trial"}},
      {"a Raspberry Pi reached a limit that it had not before",
       [](auto& record) {
         record.stages[0].conditions->throttled_before = 0x50000;
         record.stages[0].conditions->throttled_after = 0x70000;
         record.stages[1].conditions->throttled_before = 0x50000;
         record.stages[1].conditions->throttled_after = 0xd0008;
       },
       {"stage 0's machine reached a limit during the trial: clock capped",
        "stage 1's machine reached a limit during the trial: soft temperature limit"}},
      {"pages were read from disk",
       [](auto& record) { record.stages[1].usage.major_page_faults = 3; },
       {"stage 1 waited 3 times for pages from disk"}},
      {"of older records, which do not know their conditions, nothing is said",
       [](auto& record) {
         for (auto& stage : record.stages) stage.conditions.reset();
       },
       {}}};
  for (const auto& [what, happens, said] : cases) {
    INFO(what);
    auto record = calm_record();
    happens(record);
    CHECK(stats::disturbances(record) == said);
  }
}

TEST_CASE("what an emulated device is held to by intention is no disturbance, and its neighbour's is one",
          "[disturbances]") {
  auto record = calm_record();
  for (auto& stage : record.stages) {
    stage.conditions->probe_after_ns = 2000;
    stage.usage.major_page_faults = 7;
  }
  REQUIRE(stats::disturbances(record).size() == 4);
  record.stages[1].emulated_device = record::EmulatedDevice{.profile = "pi", .device = 1};
  CHECK(stats::disturbances(record).size() == 4);  // a name restricts nothing
  record.stages[1].emulated_device->cpu_quota = 0.5;
  CHECK(stats::disturbances(record).size() == 3);
  record.stages[1].emulated_device->memory_limit_bytes = 1;
  CHECK(stats::disturbances(record).size() == 2);
}

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

/// Lets stage 1 end the compute of one batch so much later, with all that follows for this batch.
void end_later(record::PhaseSamples& samples, std::size_t batch, std::int64_t by) {
  auto& stage = samples.stages.at(1);
  for (auto* moments : {&stage.compute_end, &stage.encoded, &stage.codec_begin, &stage.send_begin, &stage.send_end,
                        &samples.results.receive_begin, &samples.results.receive_end, &samples.results.completed}) {
    (*moments)[batch] += by;
  }
}

/// The same batches, of which stage 1 computes those from `batch` on `longer` longer, as everything after them shows.
record::PhaseSamples slower_from(record::PhaseSamples samples, std::size_t batch, std::int64_t longer) {
  std::int64_t late = 0;
  for (std::size_t i = batch; i < samples.stages.at(1).ready.size(); ++i) {
    samples.stages[1].compute_begin[i] += late;
    late += longer;
    end_later(samples, i, late);
  }
  return samples;
}

record::PhaseSamples phase(int batches = 34) {
  return testing::regular_samples({5'000'000, 4000, 3'000'000, 2000, 50'000'000}, batches, kWarmup, 4);
}

}  // namespace

TEST_CASE("durations that become longer for good have risen, from where they did on, with eight on both sides",
          "[slow]") {
  for (std::size_t from = 8; from <= 24; ++from) {
    CAPTURE(from);
    const auto rise = find_rise(noisy(32, from, 1.5));
    REQUIRE(rise);
    CHECK(rise->first == static_cast<int>(from));
    CHECK(rise->after_ns / rise->before_ns == Approx(1.5).epsilon(0.1));
    CHECK(find_rise(noisy(32, from, 1.4)).value().first == static_cast<int>(from));
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

TEST_CASE("less than a quarter or a tenth of a millisecond more, becoming faster, and a burst that passes are no rise",
          "[slow]") {
  CHECK_FALSE(find_rise({}));
  CHECK_FALSE(find_rise(Series(100, 5)));
  CHECK_FALSE(find_rise(Series(100, 0)));
  CHECK_FALSE(find_rise(noisy(64, 32, 1.15)));
  CHECK_FALSE(find_rise(noisy(64, 32, 0.5)));
  for (const auto& [begin, end] : {std::pair{20U, 40U}, {60, 64}}) {
    auto burst = noisy(64, 64, 1);
    for (auto i = begin; i < end; ++i) burst[i] *= 3;
    CHECK_FALSE(find_rise(burst));
  }
  auto short_ones = noisy(40, 20, 1.5);
  for (auto& duration : short_ones) duration /= 10;  // from 100 to 150 us: caches get cold in a pipeline that waits
  CHECK_FALSE(find_rise(short_ones));
}

TEST_CASE("outliers on either side neither make a rise nor hide one", "[slow]") {
  auto series = noisy(40, 20, 1.6);
  series[3] *= 30;
  series[30] /= 3;
  CHECK(find_rise(series).value().first == 20);
  auto level = noisy(40, 40, 1);
  level[25] *= 30;
  level[33] *= 30;
  CHECK_FALSE(find_rise(level));
}

TEST_CASE("a long series is looked at in groups, and the place is right to a group", "[slow]") {
  const auto rise = find_rise(noisy(100'000, 60'000, 1.3));
  REQUIRE(rise);
  CHECK(std::abs(rise->first - 60'000) <= 800);
}

TEST_CASE("a stage that became slower in a phase is found there, and no other", "[slow]") {
  const auto slow = slower_from(phase(), 20, 2'000'000);
  using SlowDowns = std::vector<record::SlowDown>;
  CHECK(stats::find_slow_downs(phase(), phase()).empty());
  CHECK(stats::find_slow_downs(phase(), slow) == SlowDowns{{true, 1, 20, 3e6, 5e6}});
  CHECK(stats::find_slow_downs(slow, phase()) == SlowDowns{{false, 1, 20, 3e6, 5e6}});
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
  for (std::size_t batch = 41; batch < 80; batch += 2) end_later(samples, batch, 600'000);
  CHECK(stats::find_slow_downs(phase(), samples) == std::vector<record::SlowDown>{{true, 1, 20, 600'000, 1'200'000}});
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

using stats::leading_slow;

namespace {

record::PhaseSamples single_stream() {
  return testing::regular_samples({5000, 4000, 3000, 2000, 50'000}, 14, kWarmup, 1);
}

record::PhaseSamples offline() {
  return testing::regular_samples({5000, 4000, 3000, 2000, 10'000}, 14, kWarmup, 4);
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
  CHECK(stats::settled_latency_warmup(alone) == kWarmup);
  alone.results.completed[kWarmup - 1] += 30'000;  // a slow one among the warm-up ones lengthens nothing
  CHECK(stats::settled_latency_warmup(alone) == kWarmup);
  alone.results.completed[kWarmup] += 30'000;
  alone.results.completed[kWarmup + 1] += 20'000;
  CHECK(stats::settled_latency_warmup(alone) == kWarmup + 2);

  auto loaded = offline();
  CHECK(stats::settled_throughput_warmup(loaded) == kWarmup);
  delay_completions(loaded, kWarmup + 1, 90'000);
  CHECK(stats::settled_throughput_warmup(loaded) == kWarmup + 1);
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
