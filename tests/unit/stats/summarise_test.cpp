#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "samples.hpp"

using namespace paretopipe;

namespace {

const testing::Durations kAlone{5000, 4000, 3000, 2000, 50'000};
const testing::Durations kLoaded{5000, 4000, 3000, 2000, 10'000};
const std::vector<record::LinkPayload> kLinks{{0, 1, 8000, 64}, {1, 0, 40, 64}};

}  // namespace

TEST_CASE("throughput is the rate between the first and the last completion after warm-up") {
  const auto single_stream = testing::regular_samples(kAlone, 10, 2, 1);
  auto offline = testing::regular_samples(kLoaded, 10, 2, 4);
  // 8 measured batches of 16 images, 10 us apart: 7 intervals.
  CHECK(stats::summarise(single_stream, offline, 16, kLinks).throughput_image_per_s.value() == Approx(16 / 10e-6));

  offline.results.completed[0] -= 5'000'000;  // a slow warm-up batch changes nothing
  CHECK(stats::summarise(single_stream, offline, 16, kLinks).throughput_image_per_s.value() == Approx(16 / 10e-6));

  offline.results.completed[9] += 70'000;  // the last interval does
  CHECK(stats::summarise(single_stream, offline, 16, kLinks).throughput_image_per_s.value() == Approx(7 * 16 / 140e-6));
}

TEST_CASE("of one phase alone the summary is what it says in that of both, and nothing else") {
  const auto single_stream = testing::regular_samples(kAlone, 10, 2, 1);
  const auto offline = testing::regular_samples(kLoaded, 10, 2, 4);
  const auto both = stats::summarise(single_stream, offline, 16, kLinks);
  const auto alone = stats::summarise(single_stream, std::nullopt, 16, kLinks);
  const auto loaded = stats::summarise(std::nullopt, offline, 16, kLinks);
  CHECK(alone == record::Summary{both.latency, {}, {}, both.breakdown, both.links, {}});
  CHECK(loaded == record::Summary{{}, both.throughput_image_per_s, both.latency_under_load, {}, {}, both.stages});
}

TEST_CASE("latency is that of measured batches, from each phase's own samples") {
  auto single_stream = testing::regular_samples(kAlone, 10, 2, 1);
  auto offline = testing::regular_samples(kLoaded, 10, 2, 4);
  single_stream.results.completed[1] += 1'000'000;  // warm-up
  offline.results.completed[5] += 500;
  const auto summary = stats::summarise(single_stream, offline, 1, kLinks);
  const double latency = 5000 + 4000 + 3000 + 2000 + 2 * testing::kWait;
  CHECK(summary.latency->count == 8);
  CHECK(summary.latency->max_ns == latency);
  CHECK(summary.latency_under_load->max_ns == latency + 500);
}

TEST_CASE("utilisation counts compute within the window of completions only") {
  const auto single_stream = testing::regular_samples(kAlone, 4, 1, 1);
  auto offline = testing::regular_samples(kLoaded, 4, 1, 4);
  offline.results.completed = {0, 100'000, 150'000, 200'000};
  offline.stages[0].compute_begin = {0, 90'000, 120'000, 195'000};
  offline.stages[0].compute_end = {50'000, 110'000, 140'000, 260'000};  // 0, 10, 20 and 5 us of it within
  const auto summary = stats::summarise(single_stream, offline, 1, kLinks);
  CHECK(summary.stages.at(0).utilisation == Approx(0.35));
  CHECK(summary.stages.at(0).bubble == Approx(0.65));
  CHECK(summary.stages.at(0).compute_p50_ns == 20'000);
}

TEST_CASE("a link's rates divide its payload by the sender-to-receiver and the receiver-side time") {
  const auto single_stream = testing::regular_samples(kAlone, 10, 2, 1);
  const auto offline = testing::regular_samples(kLoaded, 10, 2, 4);
  const auto links = stats::summarise(single_stream, offline, 1, kLinks).links;
  REQUIRE(links.size() == 2);
  CHECK(links[0].transfer_p50_ns == 4000);
  CHECK(links[0].goodput_byte_per_s == Approx(8000 / 4e-6));
  CHECK(links[0].receive_rate_byte_per_s == Approx(8000 / 3e-6));  // the header takes a quarter of the transfer
  CHECK(links[1].to == 0);
  CHECK(links[1].goodput_byte_per_s == Approx(40 / 2e-6));
}

TEST_CASE(
    "of batches in micro-batches, throughput counts batches, compute is a whole batch's, and a link's rates are a "
    "micro-batch's") {
  // 10 batches of 2 micro-batches, one micro-batch every 10 us, 2 batches of which warm up.
  const auto single_stream = testing::micro_batched(testing::regular_samples(kAlone, 20, 2, 1), 2);
  const auto offline = testing::micro_batched(testing::regular_samples(kLoaded, 20, 2, 4), 2);
  const std::vector<record::LinkPayload> links{{0, 1, 16000, 128}, {1, 0, 80, 128}};
  const auto summary = stats::summarise(single_stream, offline, 16, links);
  CHECK(summary.latency->count == 8);
  CHECK(summary.latency->p50_ns == 50'000 + 5000 + 4000 + 3000 + 2000 + 2 * testing::kWait);
  CHECK(summary.throughput_image_per_s.value() == Approx(16 / 20e-6));
  CHECK(summary.stages.at(0).compute_p50_ns == 2 * 5000);
  CHECK(summary.stages.at(0).utilisation == Approx(13 * 5 / 140.0));  // nothing follows the last batch
  CHECK(summary.stages.at(1).utilisation == Approx(0.3));
  CHECK(summary.links.at(0).transfer_p50_ns == 4000);
  CHECK(summary.links.at(0).goodput_byte_per_s == Approx(8000 / 4e-6));
  CHECK(summary.links.at(1).receive_rate_byte_per_s == Approx(40 / 1.5e-6));
}

TEST_CASE("a transfer below the clock's resolution has a finite rate") {
  auto single_stream = testing::regular_samples({5000, 0, 3000, 2000, 50'000}, 10, 2, 1);
  const auto offline = testing::regular_samples(kLoaded, 10, 2, 4);
  CHECK(stats::summarise(single_stream, offline, 1, kLinks).links[0].goodput_byte_per_s == 8000e9);
}

TEST_CASE("the means of the breakdown add up to the mean latency") {
  std::mt19937 random(3);
  for (int stages = 1; stages <= 5; ++stages) {
    const auto samples = testing::random_samples(random, stages, 20, 5);
    std::vector<record::LinkPayload> links;
    for (int s = 0; stages > 1 && s < stages; ++s) links.push_back({s, (s + 1) % stages, 100, 10});
    const auto summary = stats::summarise(samples, samples, 1, links);
    double sum = 0;
    for (const auto& part : summary.breakdown) sum += part.mean_ns;
    CHECK(sum == Approx(summary.latency->mean_ns).epsilon(1e-12));
    CHECK(summary.stages.size() == static_cast<std::size_t>(stages));
  }
}

TEST_CASE("one measured batch has no throughput and is refused with what to do") {
  const auto single_stream = testing::regular_samples(kAlone, 10, 2, 1);
  const auto offline = testing::regular_samples(kLoaded, 3, 2, 4);
  const auto error = support::message_of<Error>([&] { stats::summarise(single_stream, offline, 1, kLinks); });
  CHECK(support::contains(error, "at least 2 batches"));
}

TEST_CASE("links that do not fit the stages are refused") {
  const auto single_stream = testing::regular_samples(kAlone, 10, 2, 1);
  const auto offline = testing::regular_samples(kLoaded, 10, 2, 4);
  CHECK_THROWS_AS(stats::summarise(single_stream, offline, 1, {}), UsageError);
  CHECK_THROWS_AS(stats::summarise(testing::alone(single_stream), testing::alone(offline), 1, kLinks), UsageError);
}
