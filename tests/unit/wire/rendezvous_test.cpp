#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <cstring>
#include <future>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "golden.hpp"
#include "socket_pairs.hpp"

using namespace paretopipe::wire;
using paretopipe::support::contains;
using paretopipe::support::message_of;
using namespace std::chrono_literals;
using paretopipe::Clock;
using paretopipe::EnvironmentError;

namespace {

constexpr std::uint64_t kToken = 0x1122334455667788;

/// Far enough that only a hang gets there.
Clock::time_point in_a_minute() {
  return Clock::now() + 60s;
}

/// What waits for this tries exactly once.
Clock::time_point at_once() {
  return Clock::now();
}

bool talk(Link& a, Link& b) {
  a.send_message("ping");
  return b.receive_message() == "ping";
}

/// A port that nobody listens on and nobody else can get: bound, and kept.
class ReservedPort {
 public:
  ReservedPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), owner_(fd_) {
    const int on = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  std::uint16_t port() const { return port_; }

 private:
  int fd_;
  RawSocket owner_;
  std::uint16_t port_ = 0;
};

}  // namespace

TEST_CASE("two sides find each other by a port and a token; a host may be given by name, and the wait be for ever") {
  const auto [host, deadline] = GENERATE(
      table<std::string, Clock::time_point>({{"127.0.0.1", in_a_minute()}, {"localhost", Clock::time_point::max()}}));
  Listener listener(host, 0);
  Link a = connect_peer(host, listener.port(), kToken, deadline);
  Link b = accept_peer(listener, kToken, deadline);
  CHECK(talk(a, b));
  CHECK(talk(b, a));
  if (host == "localhost") return;
  CHECK(listener.name() == "127.0.0.1:" + std::to_string(listener.port()));
  CHECK(a.peer_name() == listener.name());
}

TEST_CASE("the side that connects may come first") {
  const ReservedPort reserved;
  auto connecting =
      std::async(std::launch::async, [&] { return connect_peer("127.0.0.1", reserved.port(), kToken, in_a_minute()); });
  Listener listener("127.0.0.1", reserved.port());
  Link b = accept_peer(listener, kToken, in_a_minute());
  Link a = connecting.get();
  CHECK(talk(a, b));
}

TEST_CASE("the stages of a ring may all connect first and accept then") {
  std::vector<Listener> listeners;
  for (int i = 0; i < 3; ++i) listeners.emplace_back("127.0.0.1", 0);
  std::vector<Link> to_next;
  for (std::size_t i = 0; i < 3; ++i) {
    to_next.push_back(connect_peer("127.0.0.1", listeners[(i + 1) % 3].port(), kToken, in_a_minute()));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    Link from_previous = accept_peer(listeners[i], kToken, in_a_minute());
    CHECK(talk(to_next[(i + 2) % 3], from_previous));
  }
}

TEST_CASE("nobody listening is reported at the deadline, with the reason, and a host that cannot exist at once") {
  const ReservedPort reserved;
  const std::string text =
      message_of<EnvironmentError>([&] { connect_peer("127.0.0.1", reserved.port(), kToken, at_once()); });
  CHECK(contains(text, "connect to 127.0.0.1:" + std::to_string(reserved.port()) + ": Connection refused"));
  CHECK(contains(text, "check that the other side is running"));
  CHECK(contains(message_of<EnvironmentError>([] { connect_peer("", 5000, kToken, in_a_minute()); }),
                 "look up the host"));
}

TEST_CASE("a busy port and an address that is not ours are reported with what to do") {
  const Listener listener("127.0.0.1", 0);
  const std::string busy = message_of<EnvironmentError>([&] { Listener("127.0.0.1", listener.port()); });
  CHECK(
      contains(busy, "listen on " + listener.name() + ": Address already in use; stop the program that has the port"));
  const std::string foreign = message_of<EnvironmentError>([] { Listener("192.0.2.1", 5000); });
  CHECK(contains(foreign, "listen on 192.0.2.1:5000: Cannot assign requested address; choose an address of this host"));
}

TEST_CASE("strangers of all kinds do not keep the peer from being found") {
  Listener listener("127.0.0.1", 0);
  RawSocket silent = connect_raw(listener.port());
  RawSocket half = connect_raw(listener.port());
  half.send(encode(Greeting{kToken}).data(), 30);
  RawSocket garbage = connect_raw(listener.port());
  garbage.send(std::string(1000, 'x'));
  RawSocket gone = connect_raw(listener.port());
  gone.close();
  RawSocket reset = connect_raw(listener.port());
  reset.reset();
  Link wrong_token = connect_peer("127.0.0.1", listener.port(), kToken + 1, in_a_minute());
  Link right = connect_peer("127.0.0.1", listener.port(), kToken, in_a_minute());

  Link accepted = accept_peer(listener, kToken, in_a_minute());
  CHECK(talk(right, accepted));
  CHECK_THROWS_AS(wrong_token.receive_message(), ProtocolError);
}

TEST_CASE("of more silent strangers than are kept waiting the oldest go, and the peer is still found") {
  Listener listener("127.0.0.1", 0);
  std::vector<RawSocket> silent;
  for (int i = 0; i < 80; ++i) silent.push_back(connect_raw(listener.port()));
  const std::string text = message_of<EnvironmentError>([&] { accept_peer(listener, kToken, at_once()); });
  CHECK(contains(text, "16 turned away, the last because it said nothing; 64 connected without a word"));

  Link right = connect_peer("127.0.0.1", listener.port(), kToken, in_a_minute());
  Link accepted = accept_peer(listener, kToken, in_a_minute());
  CHECK(talk(right, accepted));
}

TEST_CASE("the deadline's report says how many strangers were turned away, and why the last one was") {
  Listener listener("127.0.0.1", 0);
  const auto wait = [&] { return message_of<EnvironmentError>([&] { accept_peer(listener, kToken, at_once()); }); };
  CHECK(contains(wait(), "wait for a peer on " + listener.name() + ": none came in time (nobody was turned away"));

  RawSocket silent = connect_raw(listener.port());
  RawSocket garbage = connect_raw(listener.port());
  garbage.send(std::string(64, 'x'));
  RawSocket control = connect_raw(listener.port());
  control.send(golden_bytes("control"));
  Link wrong_token = connect_peer("127.0.0.1", listener.port(), kToken + 1, in_a_minute());
  const std::string text = wait();
  CHECK(contains(text, "3 turned away, the last because it had another token"));
  CHECK(contains(text, "1 connected without a word"));

  RawSocket newer = connect_raw(listener.port());
  auto greeting = encode(Greeting{kToken});
  greeting[4] = std::byte{2};
  newer.send(greeting);
  CHECK(contains(wait(), "expected protocol version 1, got 2"));
}

TEST_CASE("a caller who has not spoken by the end of one call is heard in the next") {
  Listener listener("127.0.0.1", 0);
  RawSocket late = connect_raw(listener.port());
  CHECK_THROWS_AS(accept_peer(listener, kToken, at_once()), EnvironmentError);
  late.send(encode(Greeting{kToken}));
  Link accepted = accept_peer(listener, kToken, in_a_minute());
  Link peer(late.release());
  CHECK(talk(peer, accepted));
}

TEST_CASE("bytes that follow a greeting at once belong to the link") {
  Listener listener("127.0.0.1", 0);
  RawSocket eager = connect_raw(listener.port());
  auto bytes = golden_bytes("control");
  const auto greeting = encode(Greeting{kToken});
  bytes.insert(bytes.begin(), greeting.begin(), greeting.end());
  eager.send(bytes);
  CHECK(accept_peer(listener, kToken, in_a_minute()).receive_message() == nlohmann::json{{"type", "hello"}});
}

TEST_CASE("listeners and what they accept do not survive exec") {
  Listener listener("127.0.0.1", 0);
  Link a = connect_peer("127.0.0.1", listener.port(), kToken, in_a_minute());
  Link b = accept_peer(listener, kToken, in_a_minute());
  for (const int fd : {listener.native_handle(), a.native_handle(), b.native_handle()}) {
    CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    if (fd != listener.native_handle()) CHECK((::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
  }
}
