// Summaries of batches that were dealt out to devices.
#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/record/metric.hpp>

#include <algorithm>

#include <support/catch.hpp>

#include "dealt_samples.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

TEST_CASE("of a device one gets its own batches, in order, with its share of the warm-up") {
  const auto samples = dealt_samples({.devices = 3, .batches = 8, .warmup = 2});
  const auto own = stats::of_device(samples, 1);
  CHECK(own.devices == 1);
  CHECK(own.warmup == 1);  // of batches 0 and 1, the second
  REQUIRE(own.results.completed.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(own.results.completed[i] == samples.results.completed[1 + 3 * i]);
    CHECK(own.stages[1].compute_begin[i] == samples.stages[1].compute_begin[1 + 3 * i]);
  }
  CHECK(stats::of_device(samples, 2).results.completed.size() == 2);
}

TEST_CASE("micro-batches of a batch stay together when it is dealt out") {
  const auto samples =
      micro_batched(dealt_samples({.devices = 2, .batches = 8, .warmup = 0}), 2);  // four batches of two
  const auto own = stats::of_device(samples, 1);
  CHECK(own.micro_batches == 2);
  const auto& all = samples.results.completed;
  CHECK(own.results.completed == std::vector{all[2], all[3], all[6], all[7]});
}

TEST_CASE("the parts of the latency add up for every batch, whichever device computed it") {
  const auto samples = dealt_samples({.devices = 3, .batches = 11, .warmup = 2});
  const auto breakdown = stats::breakdown(samples);
  for (std::size_t batch = 0; batch < 11; ++batch) {
    std::int64_t sum = 0;
    for (const auto& part : breakdown.parts) sum += part.ns[batch];
    CHECK(sum == breakdown.latency_ns[batch]);
    CHECK(sum == samples.results.completed[batch] - samples.stages[0].ready[batch]);
  }
}

TEST_CASE("every device has its utilisation and its links, and the throughput is of them all") {
  const Dealt dealt{.devices = 3, .batches = 32, .warmup = 2};
  const auto samples = dealt_samples(dealt);
  const auto summary = stats::summarise(samples, samples, 8, dealt_links(dealt));
  REQUIRE(summary.stages.size() == 3);
  for (const auto& device : summary.stages) {
    CHECK(device.compute_p50_ns == dealt.compute);
    CHECK(device.utilisation == Approx(double(dealt.compute) / (3.0 * dealt.interval)).epsilon(0.1));
    CHECK(device.bubble == Approx(1 - device.utilisation));
  }
  REQUIRE(summary.links.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(summary.links[i].from == (i % 2 == 0 ? 0 : static_cast<int>(i / 2) + 1));
    CHECK(summary.links[i].to == (i % 2 == 0 ? static_cast<int>(i / 2) + 1 : 0));
    CHECK(summary.links[i].transfer_p50_ns == (i % 2 == 0 ? dealt.there : dealt.back));
  }
  CHECK(summary.latency->min_ns == dealt.compute);  // the source's own
  CHECK(summary.latency->max_ns == dealt.there + dealt.compute + dealt.back);
  const auto completed = samples.results.completed;
  const auto [first, last] = std::minmax_element(completed.begin() + 2, completed.end());
  CHECK(summary.throughput_image_per_s.value() == Approx(29 * 8e9 / static_cast<double>(*last - *first)));
}

TEST_CASE("samples that do not fit the devices are refused") {
  const Dealt dealt{.devices = 3, .batches = 8, .warmup = 2};
  const auto good = dealt_samples(dealt);
  const auto links = dealt_links(dealt);
  CHECK_NOTHROW(stats::summarise(good, good, 8, links));
  SECTION("no measured batch on one device") {
    auto few = dealt_samples({.devices = 3, .batches = 4, .warmup = 2});
    CHECK_THROWS_AS(stats::breakdown(few), UsageError);
  }
  SECTION("no number of devices") {
    auto none = good;
    none.devices = GENERATE(0, -2);
    CHECK_THROWS_AS(stats::breakdown(none), UsageError);
  }
  SECTION("more stages than the source and a device") {
    auto more = good;
    more.stages.push_back(more.stages.back());
    CHECK_THROWS_AS(stats::breakdown(more), UsageError);
  }
  SECTION("links of other devices") {
    CHECK_THROWS_AS(stats::summarise(good, good, 8, {links.begin(), links.begin() + 2}), UsageError);
  }
  SECTION("phases of other devices") {
    auto other = dealt_samples({.devices = 2, .batches = 8, .warmup = 2});
    CHECK_THROWS_AS(stats::summarise(other, good, 8, links), UsageError);
  }
}

TEST_CASE("a record is checked against the devices of its trial") {
  auto record = dealt_record(make_dealt_trial(3), {.devices = 3, .batches = 10, .warmup = 2});
  CHECK_NOTHROW(stats::check_summary(record));
  record.trial.data_parallel = 2;
  CHECK_THROWS_AS(stats::check_summary(record), UsageError);
}

TEST_CASE("a batch crosses the links of its own device only: payloads are means over the batches") {
  const auto record = dealt_record(make_dealt_trial(3), {.devices = 3, .batches = 10, .warmup = 2});
  CHECK(*record::find_metric("payload").value(record) == Approx(2 * 1536 / 3.0));
  CHECK(*record::find_metric("payload_back").value(record) == Approx(2 * 320 / 3.0));
  CHECK_FALSE(record::find_metric("compute_stage1").value(record).has_value());
  CHECK(record::find_metric("compute").value(record).has_value());
}
