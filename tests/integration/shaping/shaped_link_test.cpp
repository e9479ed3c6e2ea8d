// What the kernel makes of a profile, on a link of ours and on an interface that others use, too.
#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>
#include <paretopipe/shaping/kernel/shaped_link.hpp>

#include <string>

#include <sys/socket.h>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/thrown.hpp>

#include "machine_state.hpp"

using namespace paretopipe;
using namespace std::chrono_literals;
using experiment::NetworkProfile;
using shaping::NamespaceRing;
using shaping::ShapedLink;
using support::capabilities;
using support::check_throws;

namespace {

NetworkProfile paced(std::int64_t forward, std::int64_t backward) {
  NetworkProfile profile;
  profile.name = "paced";
  profile.forward.rate_bit_per_s = forward;
  profile.backward.rate_bit_per_s = backward;
  return profile;
}

std::string qdiscs(const NamespaceRing& networks) {
  std::string all;
  for (std::size_t stage = 0; stage < 2; ++stage) {
    all += networks.run_in(stage, shaping::show_command(NamespaceRing::interface(1 - stage)));
  }
  return all;
}

experiment::LinkConditions far_away() {
  experiment::LinkConditions conditions;
  conditions.delay = 10s;  // nothing leaves netem while the test looks
  return conditions;
}

/// Bytes of the mean packet that waits in netem once the sender has sent what it may before an acknowledgement.
double mean_packet(const NamespaceRing& networks, int sender) {
  const std::string bytes(1 << 20, 'x');
  REQUIRE(::send(sender, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 10'000);
  const auto shown = networks.run_in(0, {"tc", "-s", "-j", "qdisc", "show", "dev", NamespaceRing::interface(1)});
  for (const auto& qdisc : nlohmann::json::parse(shown)) {
    if (qdisc.at("kind") == "netem") return qdisc.at("backlog").get<double>() / qdisc.at("qlen").get<double>();
  }
  FAIL("there is no netem in " << shown);
  return 0;
}

}  // namespace

TEST_CASE("a rate in each direction is applied and read back from the kernel", "[shaped][needs:tbf]") {
  const auto networks = support::ring_where(capabilities().tbf);
  const ShapedLink link(networks, paced(20'000'000, 5'000'000));
  CHECK(link.differences().empty());
  const auto applied = link.read_back();
  CHECK(applied.name == "paced");
  CHECK(applied.forward.rate_bit_per_s == 20'000'000);
  CHECK(applied.backward.rate_bit_per_s == 5'000'000);
  CHECK(applied.forward.burst_bytes.value() > 0);
}

TEST_CASE("a profile goes with the object that applied it, and another one can follow", "[shaped][needs:tbf]") {
  const auto networks = support::ring_where(capabilities().tbf);
  const auto before = qdiscs(networks);
  {
    const ShapedLink link(networks, paced(20'000'000, 20'000'000));
    CHECK(qdiscs(networks) != before);
  }
  CHECK(qdiscs(networks) == before);
  const ShapedLink link(networks, paced(1'000'000, 2'000'000));
  CHECK(link.read_back().forward.rate_bit_per_s == 1'000'000);
}

TEST_CASE("an unshaped profile applies nothing", "[shaped][needs:namespaces]") {
  const auto networks = support::ring_where(capabilities().namespaces);
  const auto before = qdiscs(networks);
  const ShapedLink link(networks, NetworkProfile{});
  CHECK(qdiscs(networks) == before);
  CHECK(link.differences().empty());
}

TEST_CASE("a profile changed behind our back is noticed", "[shaped][needs:tbf]") {
  const auto networks = support::ring_where(capabilities().tbf);
  const ShapedLink link(networks, paced(20'000'000, 20'000'000));
  networks.run_in(1, {"tc", "qdisc", "replace", "dev", NamespaceRing::interface(0), "root", "handle", "1:", "tbf",
                      "rate", "10mbit", "burst", "20kb", "latency", "50ms"});
  CHECK(link.differences() ==
        std::vector<std::string>{"backward: a rate of 20 Mbit/s was requested, but the kernel reports 10 Mbit/s"});
}

TEST_CASE("if one direction cannot be applied, neither is", "[shaped][needs:tbf]") {
  const auto networks = support::ring_where(capabilities().tbf);
  const auto before = qdiscs(networks);
  auto profile = paced(20'000'000, 1);  // less than a byte per second, which tc refuses
  CHECK_THROWS_AS(ShapedLink(networks, profile), EnvironmentError);
  CHECK(qdiscs(networks) == before);
}

TEST_CASE("a kernel without netem says so when a delay is applied", "[shaped][needs:no_netem]") {
  support::need(capabilities().tbf);
  support::need_no_netem();
  const NamespaceRing networks;
  check_throws<EnvironmentError>([&] { ShapedLink(networks, experiment::load_network_profile("published")); },
                                 {"this kernel has no netem: load its module (sudo modprobe sch_netem)"});
}

TEST_CASE("every shipped profile is applied and read back as it was requested", "[shaped][netem][needs:netem]") {
  const auto networks = support::ring_where(capabilities().netem);
  for (const auto& [name, description] : experiment::shipped_networks()) {
    CAPTURE(name);
    const ShapedLink link(networks, experiment::load_network_profile(name));
    CHECK(link.differences().empty());
  }
}

TEST_CASE("every condition at once is applied and read back", "[shaped][netem][needs:netem]") {
  const auto networks = support::ring_where(capabilities().netem);
  NetworkProfile profile;
  auto& forward = profile.forward;
  forward.delay = 12'345us;
  forward.jitter = 1'234us;
  forward.distribution = experiment::DelayDistribution::paretonormal;
  forward.rate_bit_per_s = 7'654'321;
  forward.loss = 0.0123;
  forward.reorder = 0.05;
  forward.duplicate = 0.001;
  forward.queue_packets = 321;
  profile.backward = forward;
  profile.backward.burst_bytes = 12'345;
  profile.backward.queue_latency = 123ms;
  const ShapedLink link(networks, profile);
  CHECK(link.differences() == std::vector<std::string>{});
}

TEST_CASE("netem gets a peer's traffic frame by frame, though the interface takes super-packets",
          "[peer][netem][needs:netem]") {
  const auto networks = support::ring_where(capabilities().netem);
  const auto interface = NamespaceRing::interface(1);
  networks.run_in(0, {"ip", "link", "set", "dev", interface, "gso_max_segs", "65535"});
  const auto [sender, receiver] = networks.connect();
  SECTION("as planned") {
    const auto plan = shaping::plan_peer_shaping({interface, NamespaceRing::address(1, 0), {}}, far_away());
    for (const auto& command : plan.apply) networks.run_in(0, command);
    CHECK(mean_packet(networks, sender.get()) <= shaping::kFrameBytes);
  }
  SECTION("and would not without") {
    for (const auto& command : shaping::shape_commands(interface, far_away())) networks.run_in(0, command);
    CHECK(mean_packet(networks, sender.get()) > shaping::kFrameBytes);
  }
}

TEST_CASE("the MTU is the interface's of this very network, if there is one", "[peer]") {
  CHECK(shaping::interface_mtu("lo").value() >= 1500);
  CHECK_FALSE(shaping::interface_mtu("nosuch0").has_value());
  CHECK_FALSE(shaping::interface_mtu("").has_value());
  CHECK_FALSE(shaping::interface_mtu(std::string(100, 'x')).has_value());
}
