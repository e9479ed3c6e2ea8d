// `net probe` between processes, over this machine's loopback, which nothing shapes.
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>

#include "net_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;
using namespace std::chrono_literals;

namespace {

/// "127.0.0.1:40000", where the driver says that it listens.
std::string address_of(RunningDriver& server) {
  const auto said = server.wait_for("listening on ");
  const auto begin = said.find("127.0.0.1:");
  return said.substr(begin, said.find(';') - begin);
}

/// Connects, says something that is no greeting, and waits until it is turned away.
void be_a_stranger(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const launch::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  const std::string words = "GET / HTTP/1.1\r\nHost: nobody\r\nAccept: everything that there is, and more\r\n\r\n";
  REQUIRE(::send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(words.size()));
  char byte = 0;
  CHECK(::recv(socket.get(), &byte, 1, 0) <= 0);
}

/// Whoever calls next: a descriptor.
int accept_one(const wire::Listener& listener) {
  pollfd event{listener.native_handle(), POLLIN, 0};
  ::poll(&event, 1, 30'000);
  return ::accept4(listener.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
}

/// A port that answers every caller with `words`, once.
class Stranger {
 public:
  explicit Stranger(std::string words)
      : thread_([this, words = std::move(words)] {
          const launch::FileDescriptor caller(accept_one(listener_));
          ::send(caller.get(), words.data(), words.size(), MSG_NOSIGNAL);
          std::string heard(4096, '\0');
          while (::recv(caller.get(), heard.data(), heard.size(), 0) > 0) {
          }
        }) {}
  ~Stranger() { thread_.join(); }
  const std::string& name() const { return listener_.name(); }

 private:
  wire::Listener listener_{"127.0.0.1", 0};
  std::thread thread_;
};

}  // namespace

TEST_CASE("a probe measures the round trip and both rates, and suggests a profile that can be used", "[net]") {
  RunningDriver server({"net", "probe", "--listen", "127.0.0.1:0"});
  const auto address = address_of(server);
  RunningDriver prober({"net", "probe", address, "--for", "300ms", "--format", "json", "--profile-out", "mine.json"});
  const auto outcome = prober.wait();
  INFO(outcome.errors);
  REQUIRE(outcome.exit_code == 0);
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json.at("round_trip_min_ns") > 0);
  CHECK(json.at("round_trip_median_ns") >= json.at("round_trip_min_ns"));
  CHECK(json.at("round_trip_standard_deviation_ns") >= 0);
  CHECK(json.at("round_trips") == 50);
  CHECK(json.at("forward_bit_per_s") > 1e6);
  CHECK(json.at("backward_bit_per_s") > 1e6);
  CHECK(json.at("peer") == address);
  const auto profile = experiment::load_network_profile((prober.folder() / "mine.json").string());
  CHECK(profile.forward.rate_bit_per_s.has_value());
  CHECK(profile.backward.rate_bit_per_s.has_value());
  const auto served = server.wait();
  CHECK(served.exit_code == 0);
  CHECK(contains(served.output, "served a probe of 127.0.0.1:"));
}

TEST_CASE("a server that is kept turns strangers away and serves one probe after another", "[net]") {
  RunningDriver server({"net", "probe", "--listen", "127.0.0.1:0", "--keep"});
  const auto address = address_of(server);
  for (int i = 0; i < 2; ++i) {
    be_a_stranger(address);
    const auto outcome = run_driver({"net", "probe", address, "--for", "200ms"});
    INFO(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "round trip, median"));
    CHECK(contains(outcome.output, "standard deviation"));
    CHECK(contains(outcome.output, "\"rate\""));
  }
}

TEST_CASE("a stranger's port is refused with what it said", "[net]") {
  SECTION("another service") {
    const Stranger stranger("SSH-2.0-OpenSSH_9.2\r\n");
    const auto outcome = run_driver({"net", "probe", stranger.name()});
    CHECK(outcome.exit_code == 3);
    CHECK(contains(outcome.errors, "who says \"SSH-2.0-OpenSSH_9.2"));
    CHECK(contains(outcome.errors, "Check the port"));
  }
  SECTION("a probe of another version") {
    const Stranger stranger("paretopipe-probe 99\n");
    const auto outcome = run_driver({"net", "probe", stranger.name()});
    CHECK(outcome.exit_code == 3);
    CHECK(contains(outcome.errors, "speaks version 99 of the probe, this one speaks 1"));
  }
  SECTION("somebody who says nothing") {
    const Stranger stranger("");
    const auto outcome = run_driver({"net", "probe", stranger.name()});
    CHECK(outcome.exit_code == 3);
    CHECK(contains(outcome.errors, "does not answer like a probe"));
  }
}

TEST_CASE("a probe that a person ends, at either end, ends at once", "[net]") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  std::optional<RunningDriver> probe;
  wire::Listener silent("127.0.0.1", 0);
  launch::FileDescriptor caller;
  SECTION("the one that measures, of a server that says nothing") {
    probe.emplace(Words{"net", "probe", silent.name()});
    caller = launch::FileDescriptor(accept_one(silent));
    REQUIRE(caller.get() >= 0);
  }
  SECTION("the one that serves") {
    probe.emplace(Words{"net", "probe", "--listen", "127.0.0.1:0", "--keep"});
    address_of(*probe);
  }
  const auto asked = Clock::now();
  ::kill(probe->pid(), signal);
  CHECK(probe->wait().exit_code == 128 + signal);
  CHECK(Clock::now() - asked < 2s);
}

TEST_CASE("nobody at the address is a sentence within seconds", "[net]") {
  const auto outcome = run_driver({"net", "probe", "127.0.0.1:1"});
  CHECK(outcome.exit_code == 3);
  CHECK(contains(outcome.errors, "connect to 127.0.0.1:1: Connection refused"));
  CHECK(run_driver({"net", "probe", "--listen", "192.0.2.1:0"}).exit_code == 3);
}
