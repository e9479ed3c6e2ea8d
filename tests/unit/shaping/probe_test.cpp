#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/probe/probe.hpp>
#include <paretopipe/shaping/probe/remote_probe.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;
using experiment::NetworkProfile;
using Sentences = std::vector<std::string>;

namespace {

NetworkProfile profile_of(Nanoseconds delay, std::int64_t rate_bit_per_s) {
  NetworkProfile profile;
  profile.forward.delay = delay;
  profile.forward.rate_bit_per_s = rate_bit_per_s;
  profile.backward = profile.forward;
  return profile;
}

/// A probe of a link that is just as the profile wants it.
Probe ideal(const NetworkProfile& profile) {
  const auto expected = expectation(profile);
  return {expected.round_trip_least, expected.round_trip_least, expected.forward_bit_per_s.value_or(1e9),
          expected.backward_bit_per_s.value_or(1e9)};
}

}  // namespace

TEST_CASE("a round trip pays both delays, and a long transfer the headers", "[probe]") {
  const auto expected = expectation(profile_of(20ms, 5'000'000));
  CHECK(expected.round_trip_least == 40ms);
  CHECK(expected.round_trip_most == 40ms + 214'400ns);  // 2 frames of 67 bytes at 5 Mbit/s
  CHECK(expected.forward_bit_per_s.value() == Approx(4'782'034.3));
}

TEST_CASE("a link within 5 % of its profile, or a millisecond, is what was wanted", "[probe]") {
  const auto profile = profile_of(100ms, 50'000'000);
  auto probe = ideal(profile);
  CHECK(judge(profile, probe).empty());
  probe.round_trip_min += 8ms;
  probe.forward_bit_per_s *= 1.04;
  probe.backward_bit_per_s *= 0.96;
  CHECK(judge(profile, probe).empty());
  const auto fast = profile_of(100us, 1'000'000'000);
  probe = ideal(fast);
  probe.round_trip_min += 990us;
  CHECK(judge(fast, probe).empty());
  probe.round_trip_min += 100us;
  CHECK(judge(fast, probe) ==
        Sentences{"the smallest round trip is 1.29 ms, where 201 us (within 1.00 ms) were to be expected"});
  const auto slow = profile_of(20ms, 5'000'000);
  probe = ideal(slow);
  probe.round_trip_min = 20ms;  // a delay on one egress instead of two
  CHECK(judge(slow, probe) ==
        Sentences{"the smallest round trip is 20.0 ms, where 40.2 ms (within 2.01 ms) were to be expected"});
}

TEST_CASE("a goodput that is 6 % off is noticed, each direction for itself, by the share that the link counts",
          "[probe]") {
  const auto profile = profile_of(1ms, 100'000'000);
  auto probe = ideal(profile);
  probe.forward_bit_per_s *= 0.94;
  probe.backward_bit_per_s *= 1.06;
  CHECK(
      judge(profile, probe) ==
      Sentences{"forward: a long transfer reached 89.9 Mbit/s, where 95.64 Mbit/s (within 5 %) were to be expected",
                "backward: a long transfer reached 101.4 Mbit/s, where 95.64 Mbit/s (within 5 %) were to be expected"});
  probe.forward_bit_per_s = probe.backward_bit_per_s = 102e6;  // payload is counted rather than frames
  CHECK(judge(profile, probe).size() == 2);
  CHECK(judge(profile, probe, 1).empty());
}

TEST_CASE("goodput is not judged where there is no rate or where losses decide", "[probe]") {
  NetworkProfile profile;
  auto probe = ideal(profile);
  probe.forward_bit_per_s = 1;
  CHECK(judge(profile, probe).empty());
  profile = profile_of(1ms, 100'000'000);
  profile.forward.loss = 0.01;
  probe = ideal(profile);
  probe.forward_bit_per_s = 1;
  CHECK(judge(profile, probe).empty());
}

TEST_CASE("under jitter the median counts, within the jitter", "[probe]") {
  auto profile = profile_of(20ms, 100'000'000);
  profile.forward.jitter = profile.backward.jitter = 5ms;
  auto probe = ideal(profile);
  probe.round_trip_min = 25ms;
  probe.round_trip_median = 48ms;
  CHECK(judge(profile, probe).empty());
  probe.round_trip_median = 60ms;
  CHECK(judge(profile, probe).size() == 1);
}

TEST_CASE("a long fast link is given the time that slow start takes", "[probe]") {
  const auto options = probe_options(profile_of(200ms, 500'000'000));
  CHECK(options.settling >= 11 * 400ms);  // 16,500 segments from ten: eleven doublings
  CHECK(options.measuring >= 4 * 400ms);
  CHECK(options.round_trips == 7);
  CHECK(probe_options({}).settling + probe_options({}).measuring <= 1s);
  CHECK(probe_options(profile_of(0ms, 10'000)).measuring >= 60s);  // fifty frames
}

TEST_CASE("an address with a port is split at its last colon, outside of brackets", "[remote-probe]") {
  CHECK(parse_endpoint("192.168.1.7:5000").host == "192.168.1.7");
  CHECK(parse_endpoint("192.168.1.7:5000").port == 5000);
  CHECK(parse_endpoint("[fe80::1%eth0]:80").host == "fe80::1%eth0");
  CHECK(parse_endpoint("raspberry.local:0").port == 0);
  for (const auto* text : {"", ":", "host", "host:", ":5000", "host:x", "host:65536", "host:-1", "::1:5000", "[]:5"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_endpoint(text), UsageError);
  }
}

TEST_CASE("a rate is that between the settling of a transfer and its end, and too few arrivals tell none",
          "[remote-probe]") {
  GoodputMeter meter(100ms, 200ms);
  CHECK_FALSE(meter.bit_per_s().has_value());
  // From the first arrival, at 50 ms: a fast start, then 1000 bytes every 10 ms, then a slow end.
  meter.add(50ms, 1'000'000);
  for (auto at = 60ms; at <= 350ms; at += 10ms) meter.add(at, 1000);
  meter.add(900ms, 5'000'000);
  CHECK(meter.bit_per_s().value() == Approx(800'000));
  GoodputMeter few(100ms, 200ms);
  for (const auto at : {0ms, 150ms, 150ms}) {  // between the last two no time went by
    few.add(at, 1000);
    CHECK_FALSE(few.bit_per_s().has_value());
  }
  few.add(250ms, 1000);
  CHECK(few.bit_per_s().has_value());
}

TEST_CASE("what a probe found is suggested as a profile that does the same", "[remote-probe]") {
  RemoteProbe probe;
  probe.round_trips = 50;
  probe.round_trip_min = 9ms;
  probe.round_trip_median = 10ms;
  probe.round_trip_deviation = 1'414'214ns;
  probe.forward_bit_per_s = 95'640'687;  // 100 Mbit/s of frames
  probe.backward_bit_per_s = 9'564'069;
  const auto profile = experiment::network_profile_from_json(suggest_profile(probe, "measured"), "mine");
  for (const auto* direction : {&profile.forward, &profile.backward}) {
    CHECK(direction->delay == 5ms);
    CHECK(direction->jitter == 1ms);
    CHECK(direction->distribution == experiment::DelayDistribution::normal);
  }
  CHECK(profile.forward.rate_bit_per_s.value() == Approx(100e6).epsilon(1e-4));
  CHECK(profile.backward.rate_bit_per_s.value() == Approx(10e6).epsilon(1e-4));
}

TEST_CASE("what is beyond any profile is cut to what a profile may say", "[remote-probe]") {
  RemoteProbe probe;
  probe.round_trip_median = 500ns;
  probe.forward_bit_per_s = 1e12;
  probe.backward_bit_per_s = 1;
  const auto fast = experiment::network_profile_from_json(suggest_profile(probe, ""), "fast");
  CHECK(fast.forward.delay == 0ms);
  CHECK(fast.forward.rate_bit_per_s == 100'000'000'000);
  CHECK(fast.backward.rate_bit_per_s == 10'000);
  probe.round_trip_median = 1h;
  probe.round_trip_deviation = 2h;
  const auto slow = experiment::network_profile_from_json(suggest_profile(probe, ""), "slow");
  CHECK(slow.forward.delay == 60s);
  CHECK(slow.forward.jitter == 60s);
}
