// The proofs by which two sides know each other: what they hold for, and what a stranger cannot do with what it has
// heard.
#include <paretopipe/core/error.hpp>
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/handshake.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <functional>
#include <future>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

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

/// What a real handshake looked like from a place between its two sides.
struct Recording {
  std::vector<std::byte> from_connector;
  std::vector<std::byte> from_acceptor;
};

Recording record_a_handshake() {
  Listener listener("127.0.0.1", {});
  Listener middle("127.0.0.1", {});
  auto accepting = accept_later(listener);
  auto connecting = connect_later(middle.port(), kSecurity);
  RawSocket caller = accept_raw(middle.native_handle());
  RawSocket onward = connect_raw(listener.port());
  Recording seen;
  const auto pass = [](RawSocket& from, RawSocket& to, std::size_t size, std::vector<std::byte>& record) {
    const auto bytes = from.receive(size);
    to.send(bytes);
    record.insert(record.end(), bytes.begin(), bytes.end());
  };
  pass(caller, onward, kHeaderBytes, seen.from_connector);
  pass(onward, caller, 2 * kHeaderBytes, seen.from_acceptor);
  pass(caller, onward, kHeaderBytes, seen.from_connector);
  accepting.get();
  connecting.get();
  return seen;
}

/// Why the connecting side refuses a peer that answers its challenge with `answer`, or with what that returns.
std::string refusal_of_answer(const std::function<std::vector<std::byte>(std::vector<std::byte>)>& answer) {
  Listener listener("127.0.0.1", {});
  auto connecting = connect_later(listener.port(), kSecurity);
  RawSocket caller = accept_raw(listener.native_handle());
  caller.send(answer(caller.receive(kHeaderBytes)));
  return message_of<EnvironmentError>([&] { connecting.get(); });
}

/// Why somebody was turned away. The listener keeps its callers from one look to the next, and no time is given.
std::string reason_to_turn_away(Listener& listener) {
  for (;;) {
    auto text = message_of<EnvironmentError>([&] { accept_peer(listener, kSecurity, Clock::now()); });
    if (!contains(text, "nobody was turned away")) return text;
  }
}

/// The listener's answer to a caller's challenge.
std::vector<std::byte> answer_of(Listener& listener, RawSocket& caller) {
  pollfd answered{caller.fd(), POLLIN, 0};
  while (::poll(&answered, 1, 0) == 0) {
    CHECK_THROWS_AS(accept_peer(listener, kSecurity, Clock::now()), EnvironmentError);
  }
  return caller.receive(2 * kHeaderBytes);
}

}  // namespace

TEST_CASE("the bytes of a handshake that somebody recorded open nothing, on either side") {
  const auto seen = record_a_handshake();
  Listener listener("127.0.0.1", {});
  RawSocket replay = connect_raw(listener.port());
  replay.send(seen.from_connector);
  CHECK(contains(reason_to_turn_away(listener), "1 turned away, the last because it had another key"));
  CHECK(contains(refusal_of_answer([&](const auto&) { return seen.from_acceptor; }), "does not have this run's key"));
}

TEST_CASE("what a side said cannot be sent back to it") {
  const auto twice = [](std::vector<std::byte> challenge) {
    auto answer = challenge;
    answer.insert(answer.end(), challenge.begin(), challenge.end());
    return answer;
  };
  CHECK(contains(refusal_of_answer(twice), "expected a proof, got a challenge"));

  // A caller that hands the acceptor its own challenge and proof back.
  Listener listener("127.0.0.1", {});
  RawSocket caller = connect_raw(listener.port());
  caller.send(encode(new_challenge()));
  const auto answer = answer_of(listener, caller);
  caller.send(answer.data() + kHeaderBytes, kHeaderBytes);
  CHECK(contains(reason_to_turn_away(listener), "1 turned away, the last because it had another key"));

  // A connector that is led to itself by somebody who passes its challenge on to its own listener, in the other role.
  const Challenges same{new_challenge(), new_challenge()};
  const Challenges swapped{same.acceptor, same.connector};
  CHECK(proof_of(Side::acceptor, kSecurity, same) != proof_of(Side::connector, kSecurity, swapped));
  CHECK(proof_of(Side::acceptor, kSecurity, same) != proof_of(Side::connector, kSecurity, same));
}

TEST_CASE("a proof holds for its side, key, purpose, encryption and challenges, and for no others") {
  const Challenges challenges{new_challenge(), new_challenge()};
  const Proof proof = proof_of(Side::connector, kSecurity, challenges);
  CHECK(proves(proof, Side::connector, kSecurity, challenges));
  CHECK_FALSE(proves(proof, Side::acceptor, kSecurity, challenges));
  CHECK_FALSE(proves(proof, Side::connector, kOther, challenges));
  CHECK_FALSE(proves(proof, Side::connector, {kSecurity.key, true, kSecurity.purpose}, challenges));
  CHECK_FALSE(proves(proof, Side::connector, {kSecurity.key, false, ""}, challenges));
  CHECK_FALSE(proves(proof, Side::connector, kSecurity, {challenges.connector, new_challenge()}));
  CHECK_FALSE(proves(proof, Side::connector, kSecurity, {new_challenge(), challenges.acceptor}));
  CHECK(connection_key(kSecurity, challenges) != kSecurity.key);
  CHECK(connection_key(kSecurity, challenges).bytes != proof.mac);
  CHECK(connection_key(kSecurity, challenges) == connection_key(kSecurity, challenges));
}

TEST_CASE("a key comes back from its digits, and what is no key is refused without being quoted") {
  const Key key = random_key();
  CHECK(key != random_key());
  CHECK(key_from_hex(to_hex(key)) == key);
  for (const std::string& digits :
       {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(63, 'a') + "g",
        "0x" + std::string(62, 'a'), std::string(62, 'a') + "-1"}) {
    CAPTURE(digits);
    const std::string text = message_of<ProtocolError>([&] { key_from_hex(digits); });
    CHECK(contains(text, "64 hexadecimal digits"));
    CHECK_FALSE(contains(text, "aaaa"));
  }
}

TEST_CASE("a port where another program answers is refused at once, with what it said first") {
  CHECK(contains(refusal_of_answer([](const auto&) {
                   const std::string words = "SSH-2.0-OpenSSH_9.2\r\n";
                   const auto bytes = std::as_bytes(std::span(words));
                   return std::vector<std::byte>(bytes.begin(), bytes.end());
                 }),
                 "got 5353482d: the peer is not paretopipe"));
  CHECK(contains(refusal_of_answer([](const auto&) {
                   auto newer = golden_bytes("challenge");
                   newer[4] = std::byte{4};
                   return newer;
                 }),
                 "expected protocol version 3, got 4"));
}
