// What `net` answers without touching any interface, and `net probe` between processes, over this machine's loopback,
// which nothing shapes.
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/shaping/probe/probe_stream.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <csignal>
#include <future>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "net_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using namespace std::chrono_literals;

namespace {

/// "127.0.0.1:40000", where the driver says that it listens.
std::string address_of(RunningDriver& server) {
  const auto said = server.wait_for("listening on ");
  const auto begin = said.find("127.0.0.1:");
  return said.substr(begin, said.find(';') - begin);
}

/// Connects, says something that is no handshake, and waits until it is turned away.
void be_a_stranger(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
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
          const FileDescriptor caller(accept_one(listener_));
          ::send(caller.get(), words.data(), words.size(), MSG_NOSIGNAL);
          std::string heard(4096, '\0');
          while (::recv(caller.get(), heard.data(), heard.size(), 0) > 0) {
          }
        }) {}
  ~Stranger() { thread_.join(); }
  const std::string& name() const { return listener_.name(); }

 private:
  wire::Listener listener_{"127.0.0.1", {}};
  std::thread thread_;
};

}  // namespace

TEST_CASE("the profiles are listed, and one is shown in full, for people and for programs", "[net]") {
  const Shell shell;
  check_contains(shell.run(0, "net show").output, {"wifi", "2.00 ms +- 1.00 ms"});
  const auto all = shell.as_json("net show");
  REQUIRE(all.size() == 8);
  for (const auto& profile : all) CHECK_FALSE(profile.at("description").get<std::string>().empty());
  CHECK(contains(shell.run(0, "net show lte").output, "forward   25.0 ms +- 5.00 ms"));
  const auto one = shell.as_json("net show published");
  CHECK(one.at("forward").at("rate_bit_per_s") == 5'000'000);
}

TEST_CASE("a plan is printed for an interface that this machine need not have", "[net]") {
  const Shell shell;
  check_contains(shell.run(0, "net plan wifi --interface nosuch0 --peer 192.168.1.7").output,
                 {"tc qdisc add dev nosuch0 root handle 7a7a: htb default 0",
                  "# undo:\ntc qdisc del dev nosuch0 root handle 7a7a:\n"});
  const auto backward = shell.run("net plan lte --interface nosuch0 --direction backward");
  check_contains(backward.output, {"tc qdisc add dev nosuch0 root handle 1: netem", "rate 40000000bit"});
  CHECK(contains(backward.errors, "SSH included"));
}

TEST_CASE("a wrong request about networks is a sentence", "[net]") {
  check_refused(Shell(), "net",
                {{"", "subcommand"},
                 {"plam", "did you mean \"plan\"?"},
                 {"show wify", "did you mean \"wifi\"?"},
                 {"plan wify --interface x", "did you mean \"wifi\"?"},
                 {"plan unshaped --interface x", "shapes nothing forward"},
                 {"plan wifi --interface 'a b'", "cannot be an interface's name"},
                 {"plan wifi --interface x --port 5", "--port needs --peer"},
                 {"plan wifi --interface x --peer here", "is not an IP address"},
                 {"plan wifi --interface x --peer 10.0.0.1 --port 0", "--port"},
                 {"apply wifi --interface x --for 5s", "--peer"},
                 {"apply wifi --interface x --peer 10.0.0.1", "--for"},
                 {"apply wifi --interface x --peer 10.0.0.1 --for 2", "no unit of time"},
                 {"apply wifi --interface x --peer 10.0.0.1 --for 1ms", "between 1s and"},
                 {"clear --interface -x", "interface"},
                 {"keep-lease", "for `paretopipe net apply` alone"},
                 {"probe", "--listen"},
                 {"probe --listen 127.0.0.1:0 --profile-out wifi.json", "--listen excludes --profile-out"},
                 {"probe --listen 127.0.0.1:0 --for 2s", "--listen excludes --for"},
                 {"probe --listen 127.0.0.1:0 --format json", "--listen excludes --format"},
                 {"probe somewhere", "is not an address with a port"},
                 {"probe 127.0.0.1:1 --for 1h", "no unit of time"},
                 {"probe 127.0.0.1:1 --profile-out nowhere/x.json", "there is no folder nowhere"},
                 {"probe 127.0.0.1:1 --keep", "--listen"}});
}

TEST_CASE("the help of apply says what the lease promises, and the keeper is not shown", "[net]") {
  CHECK(contains(Shell().run(0, "net apply --help").output, "The lease:"));
  CHECK_FALSE(contains(Shell().run("net --help").output, "keep-lease"));
}

TEST_CASE("a probe measures the round trip and both rates, and suggests a profile that can be used", "[net]") {
  RunningDriver server("net probe --listen 127.0.0.1:0");
  const auto address = address_of(server);
  const Shell shell;
  const auto json = shell.as_json("net probe " + address + " --for 2s --profile-out mine.json");
  CHECK(json.at("round_trip_min_ns") > 0);
  CHECK(json.at("round_trip_median_ns") >= json.at("round_trip_min_ns"));
  CHECK(json.at("round_trip_standard_deviation_ns") >= 0);
  CHECK(json.at("round_trips") == 50);
  CHECK(json.at("forward_bit_per_s") > 1e6);
  CHECK(json.at("backward_bit_per_s") > 1e6);
  CHECK(json.at("peer") == address);
  const auto profile = experiment::load_network_profile((shell.folder() / "mine.json").string());
  CHECK(profile.forward.rate_bit_per_s.has_value());
  CHECK(profile.backward.rate_bit_per_s.has_value());
  const auto served = server.wait();
  CHECK(served.exit_code == 0);
  CHECK(contains(served.output, "served a probe of 127.0.0.1:"));
}

TEST_CASE("a server that is kept turns strangers away and serves one probe after another", "[net]") {
  RunningDriver server("net probe --listen 127.0.0.1:0 --keep");
  const auto address = address_of(server);
  for (int i = 0; i < 2; ++i) {
    be_a_stranger(address);
    check_contains(Shell().run(0, "net probe " + address + " --for 1s").output,
                   {"round trip, median", "standard deviation", "\"rate\""});
  }
}

TEST_CASE("a stranger's port is refused, and so is one who says nothing", "[net]") {
  const auto [greeting, named] = GENERATE(table<std::string, std::vector<std::string>>(
      {{"SSH-2.0-OpenSSH_9.2\r\n", {"the peer is not paretopipe", "got 5353482d"}},
       {"", {"the other side does not answer", "check that the other side is running"}}}));
  const Stranger stranger(greeting);
  const auto outcome = Shell().run(3, "net probe " + stranger.name());
  for (const auto& part : named) CHECK(contains(outcome.errors, part));
}

TEST_CASE("a probe of another version is refused with both versions", "[net]") {
  wire::Listener listener("127.0.0.1", {});
  auto server = std::async(std::launch::async, [&listener] {
    const auto link = wire::accept_peer(listener, shaping::probe_security(), Clock::now() + std::chrono::seconds(60));
    const std::string words = "paretopipe-probe 99\n";
    ::send(link.native_handle(), words.data(), words.size(), MSG_NOSIGNAL);
    char byte = 0;
    ::recv(link.native_handle(), &byte, 1, 0);
  });
  CHECK(contains(Shell().run(3, "net probe " + listener.name()).errors,
                 "speaks version 99 of the probe, this one speaks 2"));
  server.get();
}

TEST_CASE("a probe that a person ends, at either end, ends at once", "[net]") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  std::optional<RunningDriver> probe;
  wire::Listener silent("127.0.0.1", {});
  FileDescriptor caller;
  SECTION("the one that measures, of a server that says nothing") {
    probe.emplace("net probe " + silent.name());
    caller = FileDescriptor(accept_one(silent));
    REQUIRE(caller.get() >= 0);
  }
  SECTION("the one that serves") {
    probe.emplace("net probe --listen 127.0.0.1:0 --keep");
    address_of(*probe);
  }
  const auto asked = Clock::now();
  ::kill(probe->pid(), signal);
  CHECK(probe->wait().exit_code == 128 + signal);
  CHECK(Clock::now() - asked < 4s);  // well before the 5 s after which a silent server is given up
}

TEST_CASE("nobody at the address is a sentence within seconds", "[net]") {
  CHECK(contains(Shell().run(3, "net probe 127.0.0.1:1").errors, "connect to 127.0.0.1:1: Connection refused"));
  Shell().run(3, "net probe --listen 192.0.2.1:0");
}
