#include <paretopipe/core/error.hpp>
#include <paretopipe/shaping/interface/lease.hpp>
#include <paretopipe/shaping/interface/peer_shaping.hpp>

#include <string>
#include <vector>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "links.hpp"

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;
using experiment::LinkConditions;
using support::contains;
using support::message_of;

namespace {

Lines lines(const PeerTarget& target, const LinkConditions& conditions) {
  return as_typed(plan_peer_shaping(target, conditions).apply);
}

const Lines kFrame{"tc qdisc add dev eth0 root handle 7a7a: htb default 0 direct_qlen 1000",
                   "tc class add dev eth0 parent 7a7a: classid 7a7a:1 htb rate 100gbit burst 1000000b cburst 1000000b "
                   "quantum 60000"};

Lines operator+(Lines first, const Lines& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST_CASE("a rate for one peer is tbf below a class that only the peer's traffic gets into", "[peer]") {
  CHECK(lines({"eth0", "192.168.1.7"}, paced_link(20'000'000)) ==
        kFrame + Lines{"tc qdisc add dev eth0 parent 7a7a:1 handle 7a7b: tbf rate 20000000bit burst 13028b latency "
                       "100ms",
                       "tc filter add dev eth0 parent 7a7a: protocol ip prio 1 u32 match ip dst 192.168.1.7/32 flowid "
                       "7a7a:1"});
}

TEST_CASE("a port is matched on either side, for either may be the server, by the filters of the peer's IP", "[peer]") {
  const auto filters = [](const char* address) {
    const auto typed = lines({"eth0", address, {5000}}, paced_link(20'000'000));
    REQUIRE(typed.size() == 5);
    return Lines(typed.begin() + 3, typed.end());
  };
  const std::string add = "tc filter add dev eth0 parent 7a7a: protocol ";
  CHECK(filters("192.168.1.7") == Lines{add + "ip prio 1 u32 match ip dst 192.168.1.7/32 match ip protocol 6 0xff "
                                              "match ip dport 5000 0xffff flowid 7a7a:1",
                                        add + "ip prio 1 u32 match ip dst 192.168.1.7/32 match ip protocol 6 0xff "
                                              "match ip sport 5000 0xffff flowid 7a7a:1"});
  // As the kernel writes it.
  CHECK(filters("FE80:0:0::1").front() == add +
                                              "ipv6 prio 1 u32 match ip6 dst fe80::1/128 match ip6 protocol 6 0xff "
                                              "match ip6 dport 5000 0xffff flowid 7a7a:1");
  // What undoes it names the handle, so that nobody else's qdisc is removed.
  CHECK(as_typed({plan_peer_shaping({"eth0", "10.0.0.2", {5000}}, paced_link(1'000'000)).undo}) ==
        Lines{"tc qdisc del dev eth0 root handle 7a7a:"});
}

TEST_CASE("netem with tbf below it goes below the class, and below what cuts super-packets for it", "[peer]") {
  const auto published = experiment::load_network_profile("published");
  const auto typed = lines({"eth0", "10.0.0.2"}, published.forward);
  REQUIRE(typed.size() == 6);
  CHECK(typed[2] == "tc qdisc add dev eth0 parent 7a7a:1 handle 7a7d: tbf rate 100gbit burst 2400b limit 1000000b");
  CHECK(typed[3] == "tc qdisc add dev eth0 parent 7a7d:1 handle 7a7b: netem limit 1000 delay 200ms");
  CHECK(typed[4] == "tc qdisc add dev eth0 parent 7a7b:1 handle 7a7c: tbf rate 5000000bit burst 4096b latency 400ms");
}

TEST_CASE("what cuts super-packets lets one frame of any interface pass, with its headers and two VLAN tags",
          "[peer]") {
  for (const std::int64_t mtu : {68, 576, 1280, 1500, 9000, 65'536}) {
    const auto cut = plan_peer_shaping({"eth0", "10.0.0.2", {}, mtu}, delayed_link(5ms)).apply.at(2);
    const auto burst = std::stoll(cut.at(13));
    CAPTURE(mtu, burst);
    CHECK(burst >= mtu + 22);
    if (mtu >= 1280) CHECK(burst < 2 * (mtu - 60));  // the payload of two, whose headers are cut to one
  }
}

TEST_CASE("what cannot be planned is refused with what to write instead", "[peer]") {
  const auto refusal = [](const PeerTarget& target, const LinkConditions& conditions) {
    return message_of<UsageError>([&] { plan_peer_shaping(target, conditions); });
  };
  CHECK(contains(refusal({"eth0", "raspberry", {}}, paced_link(1'000'000)), "\"raspberry\" is not an IP address"));
  CHECK(contains(refusal({"eth0", "10.0.0.2/8", {}}, paced_link(1'000'000)), "is not an IP address"));
  CHECK(contains(refusal({"eth0", "10.0.0.2", {}}, {}), "shapes nothing"));
  for (const auto* name : {"", "-j", "eth 0", "eth/0", "0123456789abcdef", "eth0\n", ".."}) {
    CHECK(contains(refusal({name, "10.0.0.2", {}}, paced_link(1'000'000)), "cannot be an interface's name"));
  }
}

TEST_CASE("a root qdisc is the kernel's, ours or somebody's, by its handle", "[peer]") {
  CHECK(root_qdisc("[]") == RootQdisc{});
  CHECK(root_qdisc(R"([{"kind":"noqueue","handle":"0:","root":true,"options":{}}])").owner == RootOwner::kernel);
  CHECK(root_qdisc(R"([{"kind":"mq","handle":"0:","root":true},{"kind":"fq_codel","handle":"0:","parent":":1"}])") ==
        RootQdisc{RootOwner::kernel, "mq 0:"});
  CHECK(root_qdisc(R"([{"kind":"fq_codel","handle":"8001:","root":true}])") ==
        RootQdisc{RootOwner::somebody, "fq_codel 8001:"});
  CHECK(root_qdisc(R"([{"kind":"htb","handle":"1:","root":true}])").owner == RootOwner::somebody);
  CHECK(root_qdisc(R"([{"kind":"tbf","handle":"7a7a:","root":true}])").owner == RootOwner::somebody);
  CHECK(root_qdisc(R"([{"kind":"htb","handle":"7a7a:","root":true}])").owner == RootOwner::paretopipe);
  CHECK(root_qdisc(R"([{"kind":"clsact","handle":"ffff:","parent":"ffff:fff1"}])") == RootQdisc{});
  CHECK_THROWS_AS(root_qdisc("Cannot find device"), EnvironmentError);
  CHECK_THROWS_AS(root_qdisc(R"([{"root":true}])"), EnvironmentError);
}

TEST_CASE("what is applied for a peer is read back from below the class alone", "[peer]") {
  const std::string frame = R"({"kind":"htb","handle":"7a7a:","root":true,"options":{"r2q":10}})";
  const std::string paces = R"({"kind":"tbf","handle":"7a7b:","parent":"7a7a:1",)"
                            R"("options":{"rate":2500000,"burst":13027,"lat":100000}})";
  const std::string other = R"({"kind":"clsact","handle":"ffff:","parent":"ffff:fff1","options":{}})";
  CHECK(read_back_peer("[" + frame + "," + paces + "," + other + "]").rate_bit_per_s == 20'000'000);
  CHECK_FALSE(read_back_peer("[" + frame + "]").shaped());
  CHECK_THROWS_AS(read_back_peer("[" + other + "]"), EnvironmentError);
}

TEST_CASE("the terms of a lease survive the way to its keeper, and its outcome the way back", "[peer]") {
  const LeaseTerms terms{"eth0", plan_peer_shaping({"eth0", "10.0.0.2", {5000}}, paced_link(1'000'000)), 90s};
  CHECK(nlohmann::json(terms).get<LeaseTerms>() == terms);
  for (const auto end : {LeaseEnd::expired, LeaseEnd::released, LeaseEnd::keeper_interrupted}) {
    const auto back = nlohmann::json(LeaseOutcome{end, false}).get<LeaseOutcome>();
    CHECK(back.end == end);
    CHECK_FALSE(back.removed);
  }
}
