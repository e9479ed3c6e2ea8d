#include <paretopipe/core/error.hpp>
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

#include <array>
#include <thread>

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <support/catch.hpp>

#include "machine_state.hpp"
#include "tcp_pair.hpp"

// A shaped link is never faster than its profile, and not slower by half. How close it is to the profile is told by
// judge(), and shown as a warning. On a busy machine a receiver that was held up finds at once what arrived meanwhile,
// and measures more or less than the rate: then the link is probed once more.

using namespace paretopipe;
using namespace std::chrono_literals;
using experiment::NetworkProfile;
using shaping::NamespaceRing;
using shaping::Probe;
using shaping::ShapedLink;
using support::capabilities;

namespace {

/// The goodput to expect in bit/s. 0: as it comes.
struct Goodput {
  double forward;
  double backward;
};

bool is_plausible(double measured, double expected) {
  return expected == 0 || (measured < 1.05 * expected && measured > 0.5 * expected);
}

void check_goodput(double measured, double expected) {
  if (expected == 0) return;
  CHECK(measured < 1.05 * expected);
  CHECK(measured > 0.5 * expected);
}

/// Probes a link until its rates are as expected, at most five times.
template <typename ProbeOnce>
Probe check_link(Goodput expected, const ProbeOnce& probe_once) {
  Probe probe;
  for (int attempts = 0; attempts < 5; ++attempts) {
    probe = probe_once();
    if (is_plausible(probe.forward_bit_per_s, expected.forward) &&
        is_plausible(probe.backward_bit_per_s, expected.backward)) {
      break;
    }
  }
  check_goodput(probe.forward_bit_per_s, expected.forward);
  check_goodput(probe.backward_bit_per_s, expected.backward);
  return probe;
}

Probe check_link_under(const NetworkProfile& profile, Goodput rates) {
  const NamespaceRing networks;
  const ShapedLink link(networks, profile);
  const auto [first, second] = networks.connect();
  const Goodput expected{rates.forward * shaping::kTcpPayloadShare, rates.backward * shaping::kTcpPayloadShare};
  const auto probe = check_link(expected, [&, &first = first, &second = second] {
    return shaping::probe_link(first.get(), second.get(), shaping::probe_options(profile));
  });
  for (const auto& sentence : shaping::judge(profile, probe)) WARN(profile.name << ": " << sentence);
  return probe;
}

/// Two ends of a link that nothing shapes.
struct SocketPair {
  SocketPair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0); }
  ~SocketPair() {
    for (const int end : ends) ::close(end);
  }
  Probe probe(const shaping::ProbeOptions& options) const { return shaping::probe_link(ends[0], ends[1], options); }

  std::array<int, 2> ends{};
};

NetworkProfile profile_of(Nanoseconds delay, std::int64_t forward, std::int64_t backward) {
  NetworkProfile profile;
  profile.name = "tested";
  profile.forward.delay = profile.backward.delay = delay;
  profile.forward.rate_bit_per_s = forward;
  profile.backward.rate_bit_per_s = backward;
  return profile;
}

}  // namespace

TEST_CASE("a link that nothing shapes is probed", "[probe]") {
  const SocketPair pair;
  shaping::ProbeOptions options;
  options.settling = options.measuring = 1min;  // the bytes end it, however busy the machine is
  options.most_bytes = 100'000'000;
  const auto probe = pair.probe(options);
  CHECK(probe.round_trip_min > 0ns);
  CHECK(probe.round_trip_min <= probe.round_trip_median);
  CHECK(probe.forward_bit_per_s > 1e6);
  CHECK(probe.backward_bit_per_s > 1e6);
  char byte = 0;
  for (const int end : pair.ends) CHECK(::recv(end, &byte, 1, MSG_DONTWAIT) == -1);  // the link is empty again
}

TEST_CASE("a link that ends while it is probed is an error", "[probe]") {
  const SocketPair pair;
  ::shutdown(pair.ends[0], SHUT_WR);
  CHECK_THROWS_AS(pair.probe({}), EnvironmentError);
}

TEST_CASE("a person ends a probe at once", "[probe]") {
  const SocketPair pair;
  const FileDescriptor interrupt(::eventfd(0, EFD_CLOEXEC));
  shaping::ProbeOptions options;
  options.settling = 1h;  // unless interrupted
  options.interrupt_descriptor = interrupt.get();
  SECTION("before it has begun") {
    ::eventfd_write(interrupt.get(), 1);
    CHECK_THROWS_AS(pair.probe(options), Interrupted);
  }
  SECTION("in the middle of a transfer") {
    options.round_trips = 1;
    std::thread person([&] {
      std::this_thread::sleep_for(50ms);  // it may also begin later: then it is interrupted as it begins
      ::eventfd_write(interrupt.get(), 1);
    });
    CHECK_THROWS_AS(pair.probe(options), Interrupted);
    person.join();
  }
}

TEST_CASE("a way back over a link of its own is measured there, and not on the way there") {
  const auto paced = [](std::int64_t rate_bit_per_s) {
    experiment::LinkConditions conditions;
    conditions.rate_bit_per_s = rate_bit_per_s;
    return conditions;
  };
  // What each link does the other way round must not be seen.
  shaping::EmulatedLink there("127.0.0.1", paced(40'000'000), paced(16'000'000), 1);
  shaping::EmulatedLink back("127.0.0.1", paced(8'000'000), paced(80'000'000), 2);
  testing::TcpReceiver first, second;
  there.lead_to("127.0.0.1", second.port());
  back.lead_to("127.0.0.1", first.port());
  const auto out = second.connect_through(there), home = first.connect_through(back);
  auto options = shaping::ProbeOptions{.round_trips = 3};
  options.forward_in_flight = options.backward_in_flight = 200'000;
  check_link({40e6, 8e6}, [&] {
    return shaping::probe_link({out.sender.get(), out.receiver.get()}, {home.sender.get(), home.receiver.get()},
                               options);
  });
}

TEST_CASE("a rate of tbf is what a transfer gets, each direction its own", "[probe][tbf][needs:tbf]") {
  support::need(capabilities().tbf);
  check_link_under(profile_of(0ns, 20'000'000, 5'000'000), {20e6, 5e6});
}

TEST_CASE(
    "a delay counts once in each direction, a rate of netem is what a transfer gets, and jitter does not break it, for "
    "packets stay in order",
    "[probe][netem][needs:netem]") {
  support::need(capabilities().netem);
  struct Expected {
    NetworkProfile profile;
    Nanoseconds least, most;  ///< of a round trip
    Goodput rates;
  };
  for (const auto& expected : {Expected{profile_of(20ms, 20'000'000, 10'000'000), 39ms, 80ms, {20e6, 10e6}},
                               {experiment::load_network_profile("lte"), 0ms, 1h, {10e6, 0}},
                               {experiment::load_network_profile("published"), 399ms, 600ms, {5e6, 0}}}) {
    CAPTURE(expected.profile.name);
    const auto probe = check_link_under(expected.profile, expected.rates);
    CHECK(probe.round_trip_min >= expected.least);
    CHECK(probe.round_trip_min < expected.most);
  }
}
