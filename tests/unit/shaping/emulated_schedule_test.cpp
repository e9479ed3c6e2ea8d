#include <paretopipe/shaping/emulated/schedule.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "links.hpp"

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;
using experiment::DelayDistribution;
using experiment::LinkConditions;
using support::contains;

namespace {

constexpr std::int64_t kMbit = 1'000'000;
const Clock::time_point kStart{1h};

/// `bytes` that arrive at once, cut into the pieces that the link would cut them into.
Clock::time_point deliver_all(EmulatedSchedule& schedule, const LinkConditions& conditions, Clock::time_point arrival,
                              std::int64_t bytes) {
  Clock::time_point last{};
  for (const auto piece = piece_bytes(conditions); bytes > 0; bytes -= piece) {
    last = schedule.deliver(arrival, std::min(piece, bytes));
  }
  return last;
}

}  // namespace

TEST_CASE("a delay moves every byte by as much, and none by nothing") {
  for (const auto delay : {0ns, Nanoseconds(20ms)}) {
    EmulatedSchedule schedule(delayed_link(delay), 1);
    CHECK(schedule.deliver(kStart, 100) == kStart + delay);
    CHECK(schedule.deliver(kStart + 1us, 20'000'000) == kStart + 1us + delay);
  }
}

TEST_CASE("B bytes at once are delivered after d + B/r") {
  const auto conditions = paced_link(5 * kMbit, 200ms);
  EmulatedSchedule schedule(conditions, 1);
  // 1500 bytes are 12,000 bits: 2.4 ms at 5 Mbit/s.
  CHECK(schedule.deliver(kStart, 1500) == kStart + 200ms + 2400us);
  CHECK(schedule.deliver(kStart, 1500) == kStart + 200ms + 4800us);
  CHECK(schedule.deliver(kStart, 750) == kStart + 200ms + 6ms);
}

TEST_CASE("how bytes are cut into pieces does not change when the last of them comes") {
  for (const std::int64_t rate : {1, 5, 50, 333, 500}) {
    for (const std::int64_t bytes : {100'000, 602'112, 20'000'000}) {
      const auto conditions = paced_link(rate * kMbit, 7ms);
      EmulatedSchedule schedule(conditions, 1);
      const std::chrono::duration<double, std::nano> expected(7e6 + static_cast<double>(bytes) * 8e3 /
                                                                        static_cast<double>(rate));
      const auto real = deliver_all(schedule, conditions, kStart, bytes) - kStart;
      CAPTURE(rate, bytes);
      CHECK(static_cast<double>(real.count()) == Approx(expected.count()).epsilon(1e-5));
    }
  }
}

TEST_CASE("what arrives while the line is busy waits its turn, what arrives later does not") {
  EmulatedSchedule schedule(paced_link(8 * kMbit), 1);  // a byte takes 1 us
  CHECK(schedule.deliver(kStart, 1000) == kStart + 1ms);
  CHECK(schedule.deliver(kStart + 500us, 1000) == kStart + 2ms);
  CHECK(schedule.deliver(kStart + 5ms, 1000) == kStart + 6ms);
}

TEST_CASE("a burst in the profile goes at once, no more than that after any idle time, and less after a short one") {
  auto conditions = paced_link(8 * kMbit, 10ms);
  conditions.burst_bytes = 4000;
  EmulatedSchedule schedule(conditions, 1);
  for (const auto arrival : {kStart, kStart + 1s, kStart + 1h}) {
    CHECK(schedule.deliver(arrival, 4000) == arrival + 10ms);
    CHECK(schedule.deliver(arrival, 1000) == arrival + 11ms);
    CHECK(schedule.deliver(arrival, 5000) == arrival + 16ms);
  }
  const auto later = kStart + 2h;
  CHECK(schedule.deliver(later, 4000) == later + 10ms);
  CHECK(schedule.deliver(later + 1ms, 1000) == later + 11ms);  // it is as full as the time allows
  CHECK(schedule.deliver(later + 1ms, 1000) == later + 12ms);
}

TEST_CASE("jitter scatters the delays of bytes that are far apart around the delay") {
  auto conditions = delayed_link(50ms);
  conditions.jitter = 10ms;
  conditions.distribution = DelayDistribution::normal;
  EmulatedSchedule schedule(conditions, 3);
  constexpr int kCount = 20'000;
  double sum = 0;
  double squares = 0;
  auto arrival = kStart;
  for (int i = 0; i < kCount; ++i, arrival += 1s) {
    const double delay_ms = std::chrono::duration<double, std::milli>(schedule.deliver(arrival, 100) - arrival).count();
    sum += delay_ms;
    squares += delay_ms * delay_ms;
  }
  const double mean = sum / kCount;
  CHECK(mean == Approx(50).margin(0.3));
  CHECK(std::sqrt(squares / kCount - mean * mean) == Approx(10).margin(0.3));
}

TEST_CASE("jitter never changes the order, and never delivers before the arrival") {
  for (const auto distribution : {DelayDistribution::uniform, DelayDistribution::normal, DelayDistribution::pareto,
                                  DelayDistribution::paretonormal}) {
    auto conditions = paced_link(100 * kMbit, 2ms);
    conditions.jitter = 5ms;  // more than the delay: netem would send at once, too
    conditions.distribution = distribution;
    EmulatedSchedule schedule(conditions, 5);
    Clock::time_point last{};
    for (int i = 0; i < 5000; ++i) {
      const auto arrival = kStart + i * 1ms;
      const auto delivery = schedule.deliver(arrival, 1500);
      REQUIRE(delivery >= last);
      REQUIRE(delivery >= arrival + 120us);
      last = delivery;
    }
  }
}

TEST_CASE("the same seed gives the same schedule") {
  auto conditions = delayed_link(20ms);
  conditions.jitter = 5ms;
  EmulatedSchedule one(conditions, 9);
  EmulatedSchedule two(conditions, 9);
  two.deliver(kStart, 100);
  two.set_conditions(conditions, 9);
  for (int i = 1; i < 100; ++i) CHECK(one.deliver(kStart + i * 1s, 10) == two.deliver(kStart + i * 1s, 10));
}

TEST_CASE("new conditions hold for what comes next, which does not overtake what is under way") {
  EmulatedSchedule schedule(paced_link(8 * kMbit, 100ms), 1);
  CHECK(schedule.deliver(kStart, 1000) == kStart + 101ms);
  schedule.set_conditions(delayed_link(10ms), 1);
  CHECK(schedule.deliver(kStart + 1ms, 1000) == kStart + 101ms);
  CHECK(schedule.deliver(kStart + 200ms, 1000) == kStart + 210ms);
}

TEST_CASE("pieces are as long as the rate moves in a quarter of a millisecond, within limits") {
  for (const auto& [mbit, bytes] : {std::pair(1, 1500), {50, 1563}, {500, 15'625}, {10'000, 65'536}}) {
    CHECK(piece_bytes(paced_link(mbit * kMbit)) == bytes);
  }
  CHECK(piece_bytes(LinkConditions{}) == 65'536);
}

TEST_CASE("a direction holds what is on its way and four MiB more") {
  constexpr std::size_t kSocketBuffer = 4 << 20;
  CHECK(buffer_limit(LinkConditions{}) == kSocketBuffer);
  CHECK(buffer_limit(paced_link(500 * kMbit, 200ms)) == kSocketBuffer + 12'500'000);
  CHECK(buffer_limit(delayed_link(10ms)) == kSocketBuffer + 12'500'000);
  CHECK(buffer_limit(delayed_link(10s)) == 256 << 20);
  auto scattered = paced_link(8 * kMbit, 100ms);
  scattered.jitter = 25ms;
  CHECK(buffer_limit(scattered) == kSocketBuffer + 200'000);
}

TEST_CASE("what a byte stream cannot do is refused, each with its reason") {
  LinkConditions conditions = paced_link(5 * kMbit, 20ms);
  conditions.jitter = 1ms;
  conditions.burst_bytes = 4000;
  conditions.queue_packets = 100;  // nothing is dropped from a full queue: the sender waits
  conditions.queue_latency = 400ms;
  CHECK(unsupported(conditions).empty());
  conditions.loss = 0.01;
  conditions.reorder = 0.02;
  conditions.duplicate = 0.03;
  const auto sentences = unsupported(conditions);
  REQUIRE(sentences.size() == 3);
  for (const auto& sentence : sentences) {
    CHECK(contains(sentence, "An emulated link cannot "));
    CHECK(contains(sentence, "Use netem"));
  }
  CHECK(contains(sentences[0], "lose packets"));
  CHECK(contains(sentences[1], "reorder"));
  CHECK(contains(sentences[2], "duplicate"));
}

namespace {

constexpr std::size_t kCount = 400'000;

std::vector<double> sorted_sample(DelayDistribution distribution) {
  EmulatedJitter jitter(distribution, 42);
  std::vector<double> values(kCount);
  std::ranges::generate(values, [&] { return jitter.next(); });
  std::ranges::sort(values);
  return values;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

double quantile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size()))];
}

}  // namespace

// The numbers are those of the tables that iproute2 6.1 ships: mean, standard deviation, and entries by their share.
TEST_CASE("jitter is that of netem's tables, and uniform jitter lies between -1 and 1") {
  struct Table {
    DelayDistribution distribution;
    double least, most, mean, deviation, margin;
    std::vector<std::pair<double, double>> quantiles;
  };
  const auto table = GENERATE(values<Table>(
      {{DelayDistribution::uniform, std::nextafter(-1.0, 0.0), 1, 0, 1 / std::sqrt(3.0), 0.005, {}},
       {DelayDistribution::normal, -4, 4, 0, 1, 0.01, {{0.1, -1.282}, {0.75, 0.675}}},
       {DelayDistribution::pareto, -2.0 / 3, 4, -0.0335, 0.8197, 0.01, {{0.1, -0.6191}, {0.5, -0.3201}, {0.9, 0.8717}}},
       {DelayDistribution::paretonormal,
        -4,
        4,
        -0.0253,
        0.8339,
        0.01,
        {{0.1, -0.7849}, {0.25, -0.5679}, {0.5, -0.2400}, {0.9, 0.974}}}}));
  const auto values = sorted_sample(table.distribution);
  CHECK(values.front() >= table.least);
  CHECK(values.back() <= table.most);
  CHECK(mean(values) == Approx(table.mean).margin(table.margin));
  CHECK(standard_deviation(values) == Approx(table.deviation).margin(table.margin));
  for (const auto& [part, value] : table.quantiles) CHECK(quantile(values, part) == Approx(value).margin(0.015));
}

TEST_CASE("the same seed gives the same jitter, another seed another") {
  for (const auto distribution : {DelayDistribution::uniform, DelayDistribution::normal, DelayDistribution::pareto,
                                  DelayDistribution::paretonormal}) {
    EmulatedJitter one(distribution, 1);
    EmulatedJitter same(distribution, 1);
    EmulatedJitter other(distribution, 2);
    int differences = 0;
    for (int i = 0; i < 100; ++i) {
      const double value = one.next();
      CHECK(same.next() == value);
      if (other.next() != value) ++differences;
    }
    CHECK(differences > 90);
  }
}

namespace {

experiment::NetworkProfile delayed(Nanoseconds forward, Nanoseconds backward) {
  experiment::NetworkProfile profile;
  profile.forward.delay = forward;
  profile.backward.delay = backward;
  return profile;
}

/// So many deliveries, so late each.
struct Batch {
  int count;
  Nanoseconds lateness;
};

experiment::Lateness measured(const std::vector<Batch>& batches, Nanoseconds tolerance = 1ms) {
  LatenessMeter meter(tolerance);
  for (const auto& batch : batches) {
    for (int i = 0; i < batch.count; ++i) meter.add(batch.lateness);
  }
  return meter.summary().value();
}

}  // namespace

TEST_CASE("what is late begins at 5 % of the shorter delay, but not below a millisecond", "[lateness]") {
  CHECK(lateness_tolerance({}) == 1ms);
  CHECK(lateness_tolerance(delayed(20ms, 20ms)) == 1ms);
  CHECK(lateness_tolerance(delayed(200ms, 200ms)) == 10ms);
  CHECK(lateness_tolerance(delayed(200ms, 40ms)) == 2ms);
  CHECK(lateness_tolerance(delayed(40ms, 200ms)) == 2ms);
}

TEST_CASE("one delivery is its own mean, quantile and maximum, to the nanosecond, and of none there is no lateness",
          "[lateness]") {
  constexpr Nanoseconds kLongest(std::numeric_limits<std::int64_t>::max());
  for (const auto lateness : {0ns, 1ns, 15ns, 16ns, 17ns, 999'999ns, Nanoseconds(1ms), Nanoseconds(1h), kLongest}) {
    const auto summary = measured({{1, lateness}});
    const auto expected = lateness.count();
    CHECK(summary == experiment::Lateness{1'000'000, 1, lateness > 1ms ? 1 : 0, expected, expected, expected});
  }
  CHECK_FALSE(LatenessMeter(1ms).summary().has_value());
}

TEST_CASE("the 99th percentile is at most 6.25 % above the sorted deliveries', never below", "[lateness]") {
  std::mt19937_64 random(7);
  for (const int count : {1, 2, 99, 100, 101, 5000}) {
    std::lognormal_distribution<double> scatter(11, 2);  // around 60 us, from nothing to a second
    LatenessMeter meter(1ms);
    std::vector<std::int64_t> sorted;
    for (int i = 0; i < count; ++i) {
      sorted.push_back(static_cast<std::int64_t>(scatter(random)));
      meter.add(Nanoseconds(sorted.back()));
    }
    std::sort(sorted.begin(), sorted.end());
    const auto exact = sorted[static_cast<std::size_t>(std::ceil(0.99 * count)) - 1];
    const auto found = meter.summary()->p99_ns;
    CAPTURE(count, exact, found);
    CHECK(found >= exact);
    CHECK(static_cast<double>(found) <= static_cast<double>(exact) * 1.0625);
  }
}

TEST_CASE("two meters add up to what one would have counted", "[lateness]") {
  LatenessMeter one(1ms);
  LatenessMeter other(1ms);
  LatenessMeter both(1ms);
  for (int i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? one : other).add(i * 7us);
    both.add(i * 7us);
  }
  one.add(other);
  CHECK(one.summary() == both.summary());
  one.add(LatenessMeter(1ms));
  CHECK(one.summary() == both.summary());
}

TEST_CASE("a trial is touched from a share of late deliveries on, or by one pause that moves its means", "[lateness]") {
  using Batches = std::vector<Batch>;
  for (const auto& harmless :
       {Batches{{1000, 60us}}, Batches{{1000, 1ms}}, Batches{{999, 60us}, {1, 8ms}}, Batches{{20, 60us}, {1, 8ms}},
        Batches{{95, 60us}, {5, 1001us}}, Batches{{99, 0us}, {1, 90ms}}}) {
    CHECK(judge(measured(harmless)).empty());
  }
  CHECK(judge(measured({{99, 0us}, {1, 110ms}})).size() == 1);
  CHECK(judge(measured({{99, 0us}, {1, 110ms}}, 10ms)).empty());
  const auto sentences = judge(measured({{94, 60us}, {6, 1001us}}));  // however little they are late
  REQUIRE(sentences.size() == 1);
  CHECK(contains(sentences[0], "6 % of what passed it during the trial came more than 1.00 ms late"));
  CHECK(contains(sentences[0], "1.00 ms at worst"));
  CHECK(contains(sentences[0], "leave a core free"));
  CHECK(contains(sentences[0], "by others on this machine"));
  const auto elsewhere = judge(measured({{94, 60us}, {6, 1001us}}), "pi");
  REQUIRE(elsewhere.size() == 1);
  CHECK(contains(elsewhere[0], "by others on pi: "));
  CHECK_FALSE(contains(elsewhere[0], "netem"));  // which cannot be had there
}

TEST_CASE("what a meter has counted reaches another process whole") {
  LatenessMeter meter(1ms);
  for (const auto lateness : {0ns, 15ns, 16ns, 999'999ns, 1'000'001ns, 3'600'000'000'000ns}) meter.add(lateness);
  LatenessMeter read(0ns);
  nlohmann::json::parse(nlohmann::json(meter).dump()).get_to(read);
  CHECK(read.summary() == meter.summary());
  auto more = nlohmann::json(meter);
  more["classes"].push_back({100'000, 1});
  CHECK_THROWS_AS(more.get_to(read), std::out_of_range);
}
