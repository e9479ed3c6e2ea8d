#include <paretopipe/shaping/probe/probe.hpp>

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

TEST_CASE("an ideal link is within tolerance, and so is one that is 4 % off", "[probe]") {
  const auto profile = profile_of(100ms, 50'000'000);
  auto probe = ideal(profile);
  CHECK(judge(profile, probe).empty());
  probe.round_trip_min += 8ms;
  probe.forward_bit_per_s *= 1.04;
  probe.backward_bit_per_s *= 0.96;
  CHECK(judge(profile, probe).empty());
}

TEST_CASE("a millisecond is always within tolerance", "[probe]") {
  const auto profile = profile_of(100us, 1'000'000'000);
  auto probe = ideal(profile);
  probe.round_trip_min += 990us;
  CHECK(judge(profile, probe).empty());
  probe.round_trip_min += 100us;
  CHECK(judge(profile, probe) ==
        Sentences{"the smallest round trip is 1.29 ms, where 201 us (within 1.00 ms) were to be expected"});
}

TEST_CASE("a delay on one egress instead of two is noticed", "[probe]") {
  const auto profile = profile_of(20ms, 5'000'000);
  auto probe = ideal(profile);
  probe.round_trip_min = 20ms;
  CHECK(judge(profile, probe) ==
        Sentences{"the smallest round trip is 20.0 ms, where 40.2 ms (within 2.01 ms) were to be expected"});
}

TEST_CASE("a goodput that is 6 % off is noticed, each direction for itself", "[probe]") {
  const auto profile = profile_of(1ms, 100'000'000);
  auto probe = ideal(profile);
  probe.forward_bit_per_s *= 0.94;
  probe.backward_bit_per_s *= 1.06;
  CHECK(
      judge(profile, probe) ==
      Sentences{"forward: a long transfer reached 89.9 Mbit/s, where 95.64 Mbit/s (within 5 %) were to be expected",
                "backward: a long transfer reached 101.4 Mbit/s, where 95.64 Mbit/s (within 5 %) were to be expected"});
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

TEST_CASE("a link that counts payload rather than frames is judged by its own share", "[probe]") {
  const auto profile = profile_of(1ms, 100'000'000);
  auto probe = ideal(profile);
  probe.forward_bit_per_s = probe.backward_bit_per_s = 102e6;
  CHECK(judge(profile, probe).size() == 2);
  CHECK(judge(profile, probe, 1).empty());
}

TEST_CASE("a long fast link is given the time that slow start takes", "[probe]") {
  const auto options = probe_options(profile_of(200ms, 500'000'000));
  CHECK(options.settling >= 11 * 400ms);  // 16,500 segments from ten: eleven doublings
  CHECK(options.measuring >= 4 * 400ms);
  CHECK(options.round_trips == 7);
  CHECK(probe_options({}).settling + probe_options({}).measuring <= 1s);
  CHECK(probe_options(profile_of(0ms, 10'000)).measuring >= 60s);  // fifty frames
}

TEST_CASE("a probe survives its JSON", "[probe]") {
  const Probe probe{1ms, 2ms, 3e6, 4e6};
  CHECK(nlohmann::json(probe).get<Probe>() == probe);
  CHECK(nlohmann::json(probe).at("round_trip_min_ns") == 1'000'000);
}
