// `net apply` and `net clear`, for real, on the interfaces of networks that exist for a test.
#include <paretopipe/shaping/interface/peer_shaping.hpp>
#include <paretopipe/shaping/probe/probe.hpp>

#include <csignal>
#include <limits>
#include <sstream>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "net_fixture.hpp"
#include "shaping/machine_state.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace std::chrono_literals;
using shaping::NamespaceRing;

namespace {

/// Skips the test case where this kernel lacks what shaping for one peer needs.
void need_peer_shaping() {
  static const shaping::Ability ability = [] {
    if (!support::capabilities().tbf.works) return support::capabilities().tbf;
    try {
      const NamespaceRing networks;
      experiment::LinkConditions paced;
      paced.rate_bit_per_s = 1'000'000;
      const shaping::PeerTarget target{NamespaceRing::interface(1), "10.0.0.2", {5000}};
      for (const auto& command : plan_peer_shaping(target, paced).apply) networks.run_in(0, command);
      return shaping::Ability{true, ""};
    } catch (const EnvironmentError& error) {
      return shaping::Ability{false, error.what()};
    }
  }();
  support::need(ability);
}

NamespaceRing joined_networks() {
  need_peer_shaping();
  return NamespaceRing();
}

/// Needs no netem.
constexpr const char* kRateAlone = R"({"both": {"rate": "20 Mbit/s"}})";

/// Two joined networks, in the first of which the driver runs, and a profile.
struct Networks {
  explicit Networks(const char* profile = kRateAlone) { support::write_file(slow(), profile); }

  std::string slow() const { return (folder.path() / "slow.json").string(); }

  Words apply(const std::string& duration, const std::string& more = "") const {
    return fmt::format("net apply '{}' --interface {} --peer {} --for {} {}", slow(), NamespaceRing::interface(1),
                       NamespaceRing::address(1, 0), duration, more);
  }

  /// Runs the driver in the first network, to its end.
  support::Outcome run(const Words& words) const { return RunningDriver(words, &pair).wait(); }

  std::string qdiscs() const { return pair.run_in(0, {"tc", "qdisc", "show"}); }
  bool clean() const { return qdiscs() == before; }

  /// Qdiscs, classes and filters of the interface.
  std::string all() const {
    std::string text;
    for (const auto* what : {"qdisc", "class", "filter"}) {
      text += pair.run_in(0, {"tc", what, "show", "dev", NamespaceRing::interface(1)});
    }
    return text;
  }

  support::TemporaryFolder folder;
  NamespaceRing pair = joined_networks();
  std::string before = qdiscs();
};

const Words kClear = "net clear --interface " + NamespaceRing::interface(1);

/// `--port`, with that of `which`: getsockname or getpeername.
std::string at_port(int (*which)(int, sockaddr*, socklen_t*), int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  REQUIRE(which(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return "--port " + std::to_string(ntohs(address.sin_port));
}

using Connection = std::pair<FileDescriptor, FileDescriptor>;

shaping::Probe probe(const Connection& connection) {
  shaping::ProbeOptions options;
  options.round_trips = 3;
  options.settling = 200ms;
  options.measuring = 400ms;
  options.forward_in_flight = 200'000;
  return shaping::probe_link(connection.first.get(), connection.second.get(), options);
}

/// Goodput from the first network to the second, in bit/s: of the first of at most five probes that is between these,
/// or of the last. On a busy machine an end that was held up measures less, or more.
double rate_of(const Connection& connection, double least = 0, double most = std::numeric_limits<double>::infinity()) {
  double rate = 0;
  for (int attempts = 0; attempts < 5; ++attempts) {
    rate = probe(connection).forward_bit_per_s;
    if (rate > least && rate < most) break;
  }
  return rate;
}

constexpr double kLeastUnder20Mbit = 0.5 * 20e6, kMostUnder20Mbit = 1.5 * 20e6;

/// A lease that lasts longer than any test, with its shaping in place.
class LongLease {
 public:
  explicit LongLease(const Networks& networks, const std::string& more = "")
      : owner_(networks.apply("600s", more), &networks.pair), said_(owner_.wait_for("until ")) {}

  const std::string& said() const { return said_; }

  pid_t keeper() const {
    const auto children = support::children_of(owner_.pid());
    REQUIRE(children.size() == 1);
    return children.front();
  }

  support::Outcome wait() { return owner_.wait(); }

  support::Outcome end_by(int signal) {
    ::kill(owner_.pid(), signal);
    return wait();
  }

 private:
  RunningDriver owner_;
  std::string said_;
};

}  // namespace

TEST_CASE("traffic to the peer's port is slow, all other traffic is not, and afterwards none is",
          "[net][needs:peer_shaping]") {
  const Networks networks;
  const auto shaped = networks.pair.connect();
  const auto other = networks.pair.connect();
  const auto before = rate_of(shaped);
  LongLease lease(networks, at_port(::getpeername, shaped.first.get()));
  CHECK(contains(lease.said(), "read back: 20 Mbit/s"));

  const auto slow = rate_of(shaped, kLeastUnder20Mbit, kMostUnder20Mbit);
  const auto fast = rate_of(other, 3 * slow);
  INFO("before " << before << ", shaped " << slow << ", other " << fast);
  CHECK(slow < kMostUnder20Mbit);
  CHECK(slow > kLeastUnder20Mbit);
  CHECK(fast > 3 * slow);

  CHECK(lease.end_by(SIGINT).exit_code == 130);
  CHECK(rate_of(shaped, 3 * slow) > 3 * slow);
}

TEST_CASE("only traffic to the peer's port is late by the profile's delay", "[net][netem][needs:netem]") {
  support::need(support::capabilities().netem);
  const Networks networks(R"({"both": {"delay": "40 ms"}})");
  const auto shaped = networks.pair.connect();
  const auto other = networks.pair.connect();
  LongLease lease(networks, at_port(::getpeername, shaped.first.get()));
  CHECK(contains(lease.said(), "read back: 40.0 ms"));

  CHECK(probe(shaped).round_trip_min >= 39ms);
  CHECK(probe(other).round_trip_min < 39ms);

  CHECK(lease.end_by(SIGINT).exit_code == 130);
  CHECK(probe(shaped).round_trip_min < 39ms);
}

TEST_CASE("a port is the peer's or this host's", "[net][needs:peer_shaping]") {
  const Networks networks;
  const auto connection = networks.pair.connect();
  LongLease lease(networks, at_port(::getsockname, connection.first.get()));
  CHECK(rate_of(connection, 0, kMostUnder20Mbit) < kMostUnder20Mbit);
  CHECK(lease.end_by(SIGTERM).exit_code == 130);
}

TEST_CASE("nothing is left when the lease is over, after Ctrl-C, and after SIGTERM", "[net][needs:peer_shaping]") {
  const Networks networks;
  SECTION("over") {
    const auto outcome = networks.run(networks.apply("1s"));
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "stage1: removed (the lease is over)"));
  }
  SECTION("a signal") {
    const int signal = GENERATE(SIGINT, SIGTERM);
    LongLease lease(networks);
    CHECK_FALSE(networks.clean());
    const auto outcome = lease.end_by(signal);
    CHECK(outcome.exit_code == 130);
    CHECK(contains(outcome.output, "stage1: removed (interrupted)"));
  }
  CHECK(networks.clean());
}

TEST_CASE("nothing is left when either of the two processes is killed", "[net][needs:peer_shaping]") {
  const Networks networks;
  LongLease lease(networks);
  const auto keeper = lease.keeper();
  const support::ProcessWatch watched(keeper);
  SECTION("the one that was started") {
    CHECK(lease.end_by(SIGKILL).exit_code == 128 + SIGKILL);
  }
  SECTION("its keeper") {
    ::kill(keeper, SIGKILL);
    CHECK(contains(lease.wait().output, "stage1: removed (the keeper of the lease was killed)"));
  }
  SECTION("its keeper is told to end") {
    ::kill(keeper, SIGTERM);
    CHECK(contains(lease.wait().output, "stage1: removed (the keeper of the lease was told to end)"));
  }
  CHECK(watched.ended());
  CHECK(networks.clean());
}

TEST_CASE("what two killed processes left is removed by clear, which says so if there is nothing",
          "[net][needs:peer_shaping]") {
  const Networks networks;
  LongLease lease(networks);
  const auto keeper = lease.keeper();
  const support::ProcessWatch watched(keeper);
  ::kill(keeper, SIGSTOP);
  lease.end_by(SIGKILL);
  ::kill(keeper, SIGKILL);
  REQUIRE(watched.ended());
  REQUIRE_FALSE(networks.clean());

  const auto refused = networks.run(networks.apply("600s"));
  CHECK(refused.exit_code == 3);
  CHECK(contains(refused.errors, "paretopipe net clear --interface stage1"));
  for (const auto* said : {"stage1: removed what `net apply` had added\n", "stage1: nothing of ours is applied\n"}) {
    const auto cleared = networks.run(kClear);
    CHECK(cleared.exit_code == 0);
    CHECK(cleared.output == said);
    CHECK(networks.clean());
  }
}

TEST_CASE("somebody else's root qdisc is refused and stays, whether there before or made meanwhile",
          "[net][needs:peer_shaping]") {
  const Networks networks;
  const auto add_foreign = [&] {
    networks.pair.run_in(0, Words("tc qdisc add dev " + NamespaceRing::interface(1) +
                                  " root handle 1: tbf rate 5mbit burst 10kb latency 50ms"));
    return networks.qdiscs();
  };
  SECTION("before") {
    const auto before = add_foreign();
    const auto outcome = networks.run(networks.apply("600s"));
    CHECK(outcome.exit_code == 3);
    CHECK(contains(outcome.errors, "stage1 has a root qdisc that somebody made (tbf 1:)"));
    CHECK(contains(networks.run(kClear).output, "nothing of ours"));
    CHECK(networks.qdiscs() == before);
  }
  SECTION("meanwhile") {
    LongLease lease(networks);
    networks.run(kClear);
    const auto before = add_foreign();
    CHECK(contains(lease.end_by(SIGTERM).output, "nothing to remove, somebody did it meanwhile"));
    CHECK(networks.qdiscs() == before);
  }
}

TEST_CASE("an interface has one lease at a time, even when the first one's shaping was cleared",
          "[net][needs:peer_shaping]") {
  const Networks networks;
  LongLease lease(networks);
  networks.run(kClear);
  const auto second = networks.run(networks.apply("600s"));
  CHECK(second.exit_code == 3);
  CHECK(contains(second.errors, "another `paretopipe net apply` runs on stage1"));
  lease.end_by(SIGTERM);
}

TEST_CASE("plan prints just what apply runs, and what undoes it", "[net][needs:peer_shaping]") {
  const Networks networks;
  const auto before = networks.all();
  const auto plan = Shell().run(0, "net plan '" + networks.slow() + "' --interface stage1 --peer 10.0.0.2 --port 5000");
  std::istringstream lines(plan.output);
  std::string planned;
  bool undoing = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "# undo:") {
      planned = networks.all();
      undoing = true;
    }
    if (!line.starts_with('#')) networks.pair.run_in(0, Words(line));
  }
  CHECK(undoing);
  CHECK(networks.all() == before);
  LongLease lease(networks, "--port 5000");
  CHECK(networks.all() == planned);
  lease.end_by(SIGTERM);
  CHECK(networks.all() == before);
}

TEST_CASE("what the kernel refuses is a sentence, and nothing is left", "[net][needs:peer_shaping]") {
  const Networks networks;
  const auto outcome = networks.run("net apply '" + networks.slow() + "' --interface nosuch0 --peer 10.0.0.2 --for 1s");
  CHECK(outcome.exit_code == 3);
  CHECK(contains(outcome.errors, "`ip link` lists the interfaces there are"));
  CHECK(networks.clean());
}

TEST_CASE("a delay on a kernel without netem is refused with the module to load, and nothing is left",
          "[net][needs:no_netem]") {
  const Networks networks;
  support::need_no_netem();
  const auto outcome = networks.run("net apply wifi --interface stage1 --peer 10.0.0.2 --for 600s");
  CHECK(outcome.exit_code == 3);
  CHECK(contains(outcome.errors, "sudo modprobe sch_netem"));
  CHECK(networks.clean());
}
