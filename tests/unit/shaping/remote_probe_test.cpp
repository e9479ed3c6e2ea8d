#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/probe/remote_probe.hpp>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;

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

TEST_CASE("a rate is that between the settling of a transfer and its end", "[remote-probe]") {
  GoodputMeter meter(100ms, 200ms);
  CHECK_FALSE(meter.bit_per_s().has_value());
  // From the first arrival, at 50 ms: a fast start, then 1000 bytes every 10 ms, then a slow end.
  meter.add(50ms, 1'000'000);
  for (auto at = 60ms; at <= 350ms; at += 10ms) meter.add(at, 1000);
  meter.add(900ms, 5'000'000);
  CHECK(meter.bit_per_s().value() == Approx(800'000));
}

TEST_CASE("too few arrivals tell no rate", "[remote-probe]") {
  GoodputMeter meter(100ms, 200ms);
  meter.add(0ms, 1000);
  meter.add(150ms, 1000);
  CHECK_FALSE(meter.bit_per_s().has_value());
  meter.add(150ms, 1000);  // no time went by
  CHECK_FALSE(meter.bit_per_s().has_value());
  meter.add(250ms, 1000);
  CHECK(meter.bit_per_s().has_value());
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
