// What the plan for a peer does to the packets of a real TCP connection, whose sender hands over super-packets.
#include <paretopipe/shaping/interface/peer_shaping.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

#include <string>

#include <sys/socket.h>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>

#include "machine_state.hpp"

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;
using support::capabilities;

namespace {

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

TEST_CASE("netem gets a peer's traffic frame by frame, though the interface takes super-packets",
          "[peer][netem][needs:netem]") {
  support::need(capabilities().netem);
  const NamespaceRing networks;
  const auto interface = NamespaceRing::interface(1);
  networks.run_in(0, {"ip", "link", "set", "dev", interface, "gso_max_segs", "65535"});
  const auto [sender, receiver] = networks.connect();
  SECTION("as planned") {
    const auto plan = plan_peer_shaping({interface, NamespaceRing::address(1, 0), {}}, far_away());
    for (const auto& command : plan.apply) networks.run_in(0, command);
    CHECK(mean_packet(networks, sender.get()) <= kFrameBytes);
  }
  SECTION("and would not without") {
    for (const auto& command : shape_commands(interface, far_away())) networks.run_in(0, command);
    CHECK(mean_packet(networks, sender.get()) > kFrameBytes);
  }
}

TEST_CASE("the MTU is the interface's of this very network, if there is one", "[peer]") {
  CHECK(interface_mtu("lo").value() >= 1500);
  CHECK_FALSE(interface_mtu("nosuch0").has_value());
  CHECK_FALSE(interface_mtu("").has_value());
  CHECK_FALSE(interface_mtu(std::string(100, 'x')).has_value());
}
