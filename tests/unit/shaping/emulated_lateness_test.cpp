#include <paretopipe/shaping/emulated/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;

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

TEST_CASE("where nothing was handed on there is no lateness", "[lateness]") {
  CHECK_FALSE(LatenessMeter(1ms).summary().has_value());
}

TEST_CASE("one delivery is its own mean, quantile and maximum, to the nanosecond", "[lateness]") {
  for (const auto lateness : {0ns, 1ns, 15ns, 16ns, 17ns, 999'999ns, Nanoseconds(1ms), Nanoseconds(1h)}) {
    const auto summary = measured({{1, lateness}});
    const auto expected = lateness.count();
    CHECK(summary == experiment::Lateness{1'000'000, 1, lateness > 1ms ? 1 : 0, expected, expected, expected});
  }
}

TEST_CASE("the longest times that there are can be counted", "[lateness]") {
  constexpr auto kLongest = std::numeric_limits<std::int64_t>::max();
  CHECK(measured({{1, Nanoseconds(kLongest)}}).p99_ns == kLongest);
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

TEST_CASE("a link on time is valid, and so is one with a harmless late delivery", "[lateness]") {
  CHECK(judge(measured({{1000, 60us}})).empty());
  CHECK(judge(measured({{1000, 1ms}})).empty());
  CHECK(judge(measured({{999, 60us}, {1, 8ms}})).empty());
  CHECK(judge(measured({{20, 60us}, {1, 8ms}})).empty());
}

TEST_CASE("a trial is touched from a share of late deliveries on, however little they are late", "[lateness]") {
  CHECK(judge(measured({{95, 60us}, {5, 1001us}})).empty());
  const auto sentences = judge(measured({{94, 60us}, {6, 1001us}}));
  REQUIRE(sentences.size() == 1);
  CHECK(support::contains(sentences[0], "6 % of what passed it during the trial came more than 1.00 ms late"));
  CHECK(support::contains(sentences[0], "1.00 ms at worst"));
  CHECK(support::contains(sentences[0], "leave a core free"));
}

TEST_CASE("a trial is touched by one pause that is long enough to move its means", "[lateness]") {
  CHECK(judge(measured({{99, 0us}, {1, 90ms}})).empty());
  CHECK(judge(measured({{99, 0us}, {1, 110ms}})).size() == 1);
  CHECK(judge(measured({{99, 0us}, {1, 110ms}}, 10ms)).empty());
}
