#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/handshake.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <future>
#include <optional>
#include <span>
#include <vector>

#include <fcntl.h>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "golden.hpp"
#include "meeting.hpp"
#include "socket_pairs.hpp"

using namespace paretopipe::wire;
using paretopipe::support::contains;
using paretopipe::support::message_of;
using namespace std::chrono_literals;
using paretopipe::Clock;
using paretopipe::EnvironmentError;

namespace {

/// What waits for this tries exactly once.
Clock::time_point at_once() {
  return Clock::now();
}

bool talk(Link& a, Link& b) {
  a.send_message("ping");
  return b.receive_message() == "ping";
}

/// A listener's own neighbour on both sides.
RingPlace ring_of_one(const Listener& listener, const LinkSecurity& security) {
  return {security, "127.0.0.1", listener.port(), security};
}

/// The connecting side of the handshake by hand, with `words` right behind the proof.
Link prove_over(RawSocket socket, const std::string& words) {
  Challenges challenges{new_challenge(), {}};
  socket.send(encode(challenges.connector));
  const auto answer = socket.receive(2 * kHeaderBytes);
  challenges.acceptor = std::get<Challenge>(decode(std::span(answer).first<kHeaderBytes>()));
  const auto proof = encode(proof_of(Side::connector, kSecurity, challenges));
  socket.send(std::string(reinterpret_cast<const char*>(proof.data()), proof.size()) + words);
  return Link(socket.release());
}

/// A port that nobody listens on and nobody else can get: bound, and kept.
class ReservedPort {
 public:
  ReservedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(socket_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    port_ = bind_to_free_port(socket_);
  }
  std::uint16_t port() const { return port_; }

 private:
  RawSocket socket_;
  std::uint16_t port_ = 0;
};

}  // namespace

TEST_CASE("two sides find each other by a port and a key; a host may be given by name, and the wait be for ever") {
  const auto [host, deadline] = GENERATE(
      table<std::string, Clock::time_point>({{"127.0.0.1", in_a_minute()}, {"localhost", Clock::time_point::max()}}));
  CAPTURE(host);
  Listener listener(host, {});
  auto [accepted, connected] = join_ring(listener, ring_of_one(listener, kSecurity), deadline);
  CHECK(talk(connected, accepted));
  CHECK(talk(accepted, connected));
  CHECK(contains(accepted.peer_name(), "127.0.0.1:"));
  CHECK(connected.peer_name() == listener.name());
}

TEST_CASE("the side that connects may start first and tries until somebody listens") {
  const ReservedPort reserved;
  auto connecting = connect_later(reserved.port(), kSecurity);
  Listener listener("127.0.0.1", {reserved.port(), reserved.port()});
  Link b = accept_peer(listener, kSecurity, in_a_minute());
  Link a = connecting.get();
  CHECK(talk(a, b));
}

TEST_CASE("the stages of a ring join it all at once") {
  std::vector<Listener> listeners;
  for (int i = 0; i < 3; ++i) listeners.emplace_back("127.0.0.1", PortRange{});
  std::vector<std::future<RingLinks>> joining;
  const auto name = [](std::size_t from) { return std::to_string(from) + " to " + std::to_string((from + 1) % 3); };
  for (std::size_t i = 0; i < 3; ++i) {
    joining.push_back(std::async(std::launch::async, [&, i] {
      const RingPlace place{{kSecurity.key, false, name((i + 2) % 3)},
                            "127.0.0.1",
                            listeners[(i + 1) % 3].port(),
                            {kSecurity.key, false, name(i)}};
      return join_ring(listeners[i], place, in_a_minute());
    }));
  }
  std::vector<RingLinks> ring;
  for (auto& member : joining) ring.push_back(member.get());
  for (std::size_t i = 0; i < 3; ++i) CHECK(talk(ring[i].next, ring[(i + 1) % 3].previous));
}

TEST_CASE("who cannot connect does not wait for who would connect, and says why") {
  Listener stranger("127.0.0.1", {});
  auto other = std::async(std::launch::async, [&] { accept_peer(stranger, kOther, in_a_minute()); });
  Listener listener("127.0.0.1", {});
  const RingPlace place{kSecurity, "127.0.0.1", stranger.port(), kSecurity};
  const auto begin = Clock::now();
  const std::string text = message_of<paretopipe::Error>([&] { join_ring(listener, place, in_a_minute()); });
  CHECK(Clock::now() - begin < 10s);
  CHECK(contains(text, "connect to " + stranger.name() + ": the peer there does not have this run's key"));
  CHECK_FALSE(contains(text, "wait for a peer"));
  CHECK_THROWS_AS(accept_peer(listener, kSecurity, in_a_minute()), Closed);
  stranger.shutdown();
  CHECK_THROWS_AS(other.get(), Closed);
}

TEST_CASE("where neither side of a ring comes about, both reasons are reported at the deadline") {
  const ReservedPort reserved;
  Listener listener("127.0.0.1", {});
  const RingPlace place{kSecurity, "127.0.0.1", reserved.port(), kSecurity};
  const std::string text = message_of<paretopipe::Error>([&] { join_ring(listener, place, Clock::now() + 100ms); });
  CHECK(contains(text, "Connection refused"));
  CHECK(contains(text, "; and: wait for a peer on " + listener.name()));
}

TEST_CASE("a listener that is shut down ends the wait of another thread") {
  Listener listener("127.0.0.1", {});
  auto waiting = std::async(std::launch::async, [&] { accept_peer(listener, kSecurity, Clock::time_point::max()); });
  listener.shutdown();
  CHECK_THROWS_AS(waiting.get(), Closed);
  CHECK_NOTHROW(listener.shutdown());
}

TEST_CASE("connecting where nobody listens is reported with what to check, and a host that does not exist at once") {
  const ReservedPort reserved;
  const std::string text =
      message_of<EnvironmentError>([&] { connect_peer("127.0.0.1", reserved.port(), kSecurity, at_once()); });
  CHECK(contains(text, "connect to 127.0.0.1:" + std::to_string(reserved.port()) + ": Connection refused"));
  CHECK(contains(text, "check that the other side is running"));
  CHECK(contains(message_of<EnvironmentError>([] { connect_peer("", 5000, kSecurity, in_a_minute()); }),
                 "look up the host"));
}

TEST_CASE("a busy port and an address that is not ours are reported with what to do") {
  const Listener listener("127.0.0.1", {});
  const PortRange taken{listener.port(), listener.port()};
  const std::string busy = message_of<EnvironmentError>([&] { Listener("127.0.0.1", taken); });
  CHECK(
      contains(busy, "listen on " + listener.name() + ": Address already in use; stop the program that has the port"));
  const std::string foreign = message_of<EnvironmentError>([] { Listener("192.0.2.1", {5000, 5000}); });
  CHECK(contains(foreign, "listen on 192.0.2.1:5000: Cannot assign requested address; choose an address of this host"));
}

TEST_CASE("of a range of ports the first free one is taken, and a range that is exhausted is named") {
  // Others may take a port in between, so the range is looked for where three in a row are free.
  std::optional<Listener> first;
  std::uint16_t port = 20'000;
  for (; !first && port < 30'000; port += 3) {
    try {
      first.emplace("127.0.0.1", PortRange{port, port});
      const Listener second("127.0.0.1", {static_cast<std::uint16_t>(port + 1), static_cast<std::uint16_t>(port + 1)});
      break;
    } catch (const EnvironmentError&) {
      first.reset();
    }
  }
  REQUIRE(first);
  const PortRange two{port, static_cast<std::uint16_t>(port + 1)};
  const Listener second("127.0.0.1", two);
  CHECK(first->port() == port);
  CHECK(second.port() == port + 1);
  const std::string text = message_of<EnvironmentError>([&] { Listener("127.0.0.1", two); });
  CHECK(contains(text, fmt::format("listen on 127.0.0.1, ports {} to {}: Address already in use", port, port + 1)));
  CHECK(contains(text, "choose more of them"));
  first.reset();
  CHECK(Listener("127.0.0.1", two).port() == port);
  CHECK_THROWS_AS(Listener("127.0.0.1", PortRange{5001, 5000}), paretopipe::UsageError);
  CHECK_THROWS_AS(Listener("127.0.0.1", PortRange{0, 5000}), paretopipe::UsageError);
}

TEST_CASE("strangers of all kinds do not keep the peer from being found") {
  Listener listener("127.0.0.1", {});
  RawSocket silent = connect_raw(listener.port());
  RawSocket half = connect_raw(listener.port());
  half.send(encode(new_challenge()).data(), 30);
  RawSocket stops_after_its_challenge = connect_raw(listener.port());
  stops_after_its_challenge.send(encode(new_challenge()));
  RawSocket begins_with_a_proof = connect_raw(listener.port());
  begins_with_a_proof.send(encode(Proof{}));
  RawSocket garbage = connect_raw(listener.port());
  garbage.send(std::string(1000, 'x'));
  RawSocket gone = connect_raw(listener.port());
  gone.close();
  RawSocket reset = connect_raw(listener.port());
  reset.reset();
  auto wrong = connect_later(listener.port(), kOther);
  auto right = connect_later(listener.port(), kSecurity);

  Link accepted = accept_peer(listener, kSecurity, in_a_minute());
  Link connected = right.get();
  CHECK(talk(connected, accepted));
  listener.shutdown();
  { const Listener closed = std::move(listener); }  // the other may not have been heard yet, and tries again
  CHECK_THROWS_AS(wrong.get(), EnvironmentError);
}

TEST_CASE("a peer with another key, and one that is meant for another link, are told apart from ours at once") {
  Listener listener("127.0.0.1", {});
  auto accepting = accept_later(listener);
  const auto refusal = [&](const LinkSecurity& security) {
    return message_of<EnvironmentError>([&] { connect_peer("127.0.0.1", listener.port(), security, in_a_minute()); });
  };
  const std::string words = "connect to " + listener.name() + ": the peer there does not have this run's key";
  const auto begin = Clock::now();
  CHECK(contains(refusal(kOther), words + " for the link from stage 0 to stage 1"));
  CHECK(contains(refusal({kSecurity.key, false, "stage 1 to stage 0"}), words));
  CHECK(contains(refusal({kSecurity.key, true, kSecurity.purpose}), words));
  CHECK_FALSE(contains(refusal(kOther), to_hex(kOther.key).substr(0, 8)));
  CHECK(Clock::now() - begin < 10s);
  Link connected = connect_peer("127.0.0.1", listener.port(), kSecurity, in_a_minute());
  Link accepted = accepting.get();
  CHECK(talk(connected, accepted));
}

TEST_CASE("of more silent strangers than are kept waiting the oldest go, and the peer is still found") {
  Listener listener("127.0.0.1", {});
  std::vector<RawSocket> silent;
  for (int i = 0; i < 80; ++i) silent.push_back(connect_raw(listener.port()));
  const std::string text = message_of<EnvironmentError>([&] { accept_peer(listener, kSecurity, at_once()); });
  CHECK(contains(text, "16 turned away, the last because it said nothing; 64 in the middle of the handshake"));

  auto [accepted, connected] = join_ring(listener, ring_of_one(listener, kSecurity), in_a_minute());
  CHECK(talk(connected, accepted));
}

TEST_CASE("a peer whose proof is on its way is not dislodged by a scan") {
  Listener listener("127.0.0.1", {});
  const auto heard_by_now = [&] { CHECK_THROWS_AS(accept_peer(listener, kSecurity, at_once()), EnvironmentError); };
  RawSocket peer = connect_raw(listener.port());
  Challenges challenges{new_challenge(), {}};
  peer.send(encode(challenges.connector));
  heard_by_now();  // reads what had come before, and answers it
  heard_by_now();
  std::vector<RawSocket> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_raw(listener.port()));
  heard_by_now();
  const auto answer = peer.receive(2 * kHeaderBytes);
  challenges.acceptor = std::get<Challenge>(decode(std::span(answer).first<kHeaderBytes>()));
  peer.send(encode(proof_of(Side::connector, kSecurity, challenges)));
  Link accepted = accept_peer(listener, kSecurity, in_a_minute());
  Link connected(peer.release());
  CHECK(talk(connected, accepted));
}

TEST_CASE("the deadline's report says how many strangers were turned away, and why the last one was") {
  Listener listener("127.0.0.1", {});
  const auto wait = [&] {
    return message_of<EnvironmentError>([&] { accept_peer(listener, kSecurity, Clock::now() + 50ms); });
  };
  CHECK(contains(wait(), "wait for a peer on " + listener.name() + ": none came in time (nobody was turned away"));

  RawSocket silent = connect_raw(listener.port());
  RawSocket garbage = connect_raw(listener.port());
  garbage.send(std::string(64, 'x'));
  RawSocket control = connect_raw(listener.port());
  control.send(golden_bytes("control"));
  const std::string text = wait();
  CHECK(contains(text, "2 turned away, the last because it sent a control message of 16 bytes"));
  CHECK(contains(text, "1 in the middle of the handshake"));

  RawSocket older = connect_raw(listener.port());
  auto challenge = encode(new_challenge());
  challenge[4] = std::byte{1};
  older.send(challenge);
  CHECK(contains(wait(), "expected protocol version 3, got 1"));
}

TEST_CASE("a caller who has not spoken by the end of one call is heard in the next") {
  Listener listener("127.0.0.1", {});
  RawSocket late = connect_raw(listener.port());
  CHECK_THROWS_AS(accept_peer(listener, kSecurity, at_once()), EnvironmentError);
  auto accepting = accept_later(listener);
  Link peer = prove_over(std::move(late), "");
  Link accepted = accepting.get();
  CHECK(talk(peer, accepted));
}

TEST_CASE("bytes that follow a proof at once belong to the link") {
  Listener listener("127.0.0.1", {});
  auto accepting = accept_later(listener);
  const auto control = golden_bytes("control");
  const Link peer = prove_over(connect_raw(listener.port()),
                               std::string(reinterpret_cast<const char*>(control.data()), control.size()));
  CHECK(accepting.get().receive_message() == nlohmann::json{{"type", "hello"}});
}

TEST_CASE("listeners and what they accept do not survive exec") {
  Listener listener("127.0.0.1", {});
  auto [a, b] = join_ring(listener, ring_of_one(listener, kSecurity), in_a_minute());
  for (const int fd : {listener.native_handle(), a.native_handle(), b.native_handle()}) {
    CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    if (fd != listener.native_handle()) CHECK((::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
  }
}
