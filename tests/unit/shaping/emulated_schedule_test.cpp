#include <paretopipe/shaping/emulated/schedule.hpp>

#include <chrono>
#include <cmath>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;
using experiment::DelayDistribution;
using experiment::LinkConditions;
using support::contains;

namespace {

constexpr std::int64_t kMbit = 1'000'000;
const Clock::time_point kStart{1h};

LinkConditions delayed_link(Nanoseconds delay) {
  LinkConditions conditions;
  conditions.delay = delay;
  return conditions;
}

LinkConditions paced(std::int64_t rate_bit_per_s, Nanoseconds delay = 0ns) {
  LinkConditions conditions = delayed_link(delay);
  conditions.rate_bit_per_s = rate_bit_per_s;
  return conditions;
}

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

TEST_CASE("nothing shaped: bytes are delivered when they arrive") {
  EmulatedSchedule schedule(LinkConditions{}, 1);
  CHECK(schedule.deliver(kStart, 1) == kStart);
  CHECK(schedule.deliver(kStart + 1us, 20'000'000) == kStart + 1us);
}

TEST_CASE("a delay moves every byte by as much") {
  EmulatedSchedule schedule(delayed_link(20ms), 1);
  CHECK(schedule.deliver(kStart, 100) == kStart + 20ms);
  CHECK(schedule.deliver(kStart + 3ms, 20'000'000) == kStart + 23ms);
}

TEST_CASE("B bytes at once are delivered after d + B/r") {
  const auto conditions = paced(5 * kMbit, 200ms);
  EmulatedSchedule schedule(conditions, 1);
  // 1500 bytes are 12,000 bits: 2.4 ms at 5 Mbit/s.
  CHECK(schedule.deliver(kStart, 1500) == kStart + 200ms + 2400us);
  CHECK(schedule.deliver(kStart, 1500) == kStart + 200ms + 4800us);
  CHECK(schedule.deliver(kStart, 750) == kStart + 200ms + 6ms);
}

TEST_CASE("how bytes are cut into pieces does not change when the last of them comes") {
  for (const std::int64_t rate : {1, 5, 50, 333, 500}) {
    for (const std::int64_t bytes : {100'000, 602'112, 20'000'000}) {
      const auto conditions = paced(rate * kMbit, 7ms);
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
  EmulatedSchedule schedule(paced(8 * kMbit), 1);  // a byte takes 1 us
  CHECK(schedule.deliver(kStart, 1000) == kStart + 1ms);
  CHECK(schedule.deliver(kStart + 500us, 1000) == kStart + 2ms);
  CHECK(schedule.deliver(kStart + 5ms, 1000) == kStart + 6ms);
}

TEST_CASE("a burst in the profile goes at once, and no more than that after any idle time") {
  auto conditions = paced(8 * kMbit, 10ms);
  conditions.burst_bytes = 4000;
  EmulatedSchedule schedule(conditions, 1);
  for (const auto arrival : {kStart, kStart + 1s, kStart + 1h}) {
    CHECK(schedule.deliver(arrival, 4000) == arrival + 10ms);
    CHECK(schedule.deliver(arrival, 1000) == arrival + 11ms);
    CHECK(schedule.deliver(arrival, 5000) == arrival + 16ms);
  }
}

TEST_CASE("a bucket that was not idle for long is only as full as the time allows") {
  auto conditions = paced(8 * kMbit);
  conditions.burst_bytes = 4000;
  EmulatedSchedule schedule(conditions, 1);
  CHECK(schedule.deliver(kStart, 4000) == kStart);
  CHECK(schedule.deliver(kStart + 1ms, 1000) == kStart + 1ms);
  CHECK(schedule.deliver(kStart + 1ms, 1000) == kStart + 2ms);
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
    auto conditions = paced(100 * kMbit, 2ms);
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
  EmulatedSchedule schedule(paced(8 * kMbit, 100ms), 1);
  CHECK(schedule.deliver(kStart, 1000) == kStart + 101ms);
  schedule.set_conditions(delayed_link(10ms), 1);
  CHECK(schedule.deliver(kStart + 1ms, 1000) == kStart + 101ms);
  CHECK(schedule.deliver(kStart + 200ms, 1000) == kStart + 210ms);
}

TEST_CASE("pieces are as long as the rate moves in a quarter of a millisecond, within limits") {
  CHECK(piece_bytes(paced(1 * kMbit)) == 1500);
  CHECK(piece_bytes(paced(50 * kMbit)) == 1563);
  CHECK(piece_bytes(paced(500 * kMbit)) == 15'625);
  CHECK(piece_bytes(paced(10'000 * kMbit)) == 65'536);
  CHECK(piece_bytes(LinkConditions{}) == 65'536);
}

TEST_CASE("a direction holds what is on its way and four MiB more") {
  constexpr std::size_t kSocketBuffer = 4 << 20;
  CHECK(buffer_limit(LinkConditions{}) == kSocketBuffer);
  CHECK(buffer_limit(paced(500 * kMbit, 200ms)) == kSocketBuffer + 12'500'000);
  CHECK(buffer_limit(delayed_link(10ms)) == kSocketBuffer + 12'500'000);
  CHECK(buffer_limit(delayed_link(10s)) == 256 << 20);
  auto scattered = paced(8 * kMbit, 100ms);
  scattered.jitter = 25ms;
  CHECK(buffer_limit(scattered) == kSocketBuffer + 200'000);
}

TEST_CASE("what a byte stream cannot do is refused, each with its reason") {
  LinkConditions conditions = paced(5 * kMbit, 20ms);
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
