// The process of a stage's relays, here on a thread.
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/relays.hpp>
#include <paretopipe/wire/rendezvous.hpp>

#include <algorithm>
#include <array>
#include <thread>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::stage;
using namespace std::chrono_literals;
using support::contains;

namespace {

class ServedRelays {
 public:
  ServedRelays() : ServedRelays(wire::make_link_pair()) {}
  ~ServedRelays() {
    own_.shutdown();
    thread_.join();
  }

  template <class Reply, class Request>
  Reply ask(const Request& request) {
    own_.send_message(wrap(request));
    const auto envelope = own_.receive_message();
    INFO(envelope.dump());
    const auto reply = unwrap<Reply>(envelope);
    REQUIRE(reply.has_value());
    return *reply;
  }

 private:
  explicit ServedRelays(std::pair<wire::Link, wire::Link> ends)
      : own_(std::move(ends.first)), theirs_(std::move(ends.second)), thread_([this] { serve_relays(theirs_); }) {}

  wire::Link own_;
  wire::Link theirs_;
  std::thread thread_;
};

/// Both ends of a connection through a relay.
wire::RingLinks connect_through(ServedRelays& relays, int to) {
  const wire::LinkSecurity security{wire::random_key()};
  wire::Listener listener("127.0.0.1", {});
  const auto opened = relays.ask<RelayOpened>(OpenRelay{to, "localhost", listener.port()});
  CHECK(opened.port != listener.port());
  return wire::join_ring(listener, {security, opened.host, opened.port, security}, Clock::now() + 120s);
}

const wire::TensorSpec kOne{wire::DType::float32, wire::MemoryFormat::contiguous, {1}};

Nanoseconds time_to_cross(wire::RingLinks& ends, std::uint64_t sequence) {
  std::array<std::byte, 4> bytes{};
  const auto begin = Clock::now();
  ends.next.send_tensor(0, sequence, kOne, bytes);
  ends.previous.receive_tensor(0, sequence, kOne, bytes);
  return Clock::now() - begin;
}

/// The shortest of ten crossings from `sequence` on: a busy machine makes single ones late.
Nanoseconds shortest_time_to_cross(wire::RingLinks& ends, std::uint64_t sequence) {
  auto shortest = Nanoseconds::max();
  for (std::uint64_t i = 0; i < 10; ++i) shortest = std::min(shortest, time_to_cross(ends, sequence + i));
  return shortest;
}

}  // namespace

TEST_CASE("a relay leads to the stage that it was opened for, and delays its link alone") {
  ServedRelays relays;
  auto first = connect_through(relays, 1);
  auto second = connect_through(relays, 2);
  ShapeRelay shape{.to = 1, .forward = {}, .backward = {}};
  shape.forward.delay = 60ms;
  relays.ask<RelayShaped>(shape);
  CHECK(shortest_time_to_cross(first, 0) >= 60ms);
  CHECK(shortest_time_to_cross(second, 0) < 60ms);
  shape.forward.delay = 0ms;
  relays.ask<RelayShaped>(shape);
  CHECK(shortest_time_to_cross(first, 10) < 60ms);
}

TEST_CASE("the lateness of relays counts from the last watch on, each by itself") {
  ServedRelays relays;
  auto first = connect_through(relays, 1);
  auto second = connect_through(relays, 2);
  relays.ask<RelaysWatched>(WatchRelays{1'000'000});
  time_to_cross(second, 0);
  const auto read = relays.ask<RelaysRead>(ReadRelays{});
  REQUIRE(read.relays.size() == 2);
  CHECK(read.relays[0].to == 1);
  CHECK_FALSE(read.relays[0].lateness.summary().has_value());
  CHECK(read.relays[1].to == 2);
  REQUIRE(read.relays[1].lateness.summary().has_value());
  CHECK(read.relays[1].lateness.summary()->tolerance_ns == 1'000'000);
  CHECK(read.problem.empty());
}

TEST_CASE("a relay says why it did not reach the stage") {
  ServedRelays relays;
  std::uint16_t port = 0;
  {
    wire::Listener listener("127.0.0.1", {});
    port = listener.port();
  }
  const auto opened = relays.ask<RelayOpened>(OpenRelay{1, "127.0.0.1", port});
  CHECK_THROWS(wire::connect_peer(opened.host, opened.port, {}, Clock::now()));
  std::string problem;
  for (const auto deadline = Clock::now() + 120s; problem.empty() && Clock::now() < deadline;) {
    problem = relays.ask<RelaysRead>(ReadRelays{}).problem;
  }
  CHECK(contains(problem, std::to_string(port)));
  CHECK(contains(problem, "Connection refused"));
}

TEST_CASE("what relays cannot do is a fault, and they go on") {
  ServedRelays relays;
  CHECK(contains(relays.ask<Fault>(ShapeRelay{.to = 1, .forward = {}, .backward = {}}).reason, "before open_relay"));
  CHECK(contains(relays.ask<Fault>(OpenRelay{1, "no.such.host.invalid", 1}).reason, "no.such.host.invalid"));
  auto ends = connect_through(relays, 1);
  ShapeRelay lossy{.to = 1, .forward = {}, .backward = {}};
  lossy.forward.loss = 0.01;
  CHECK_FALSE(relays.ask<Fault>(lossy).reason.empty());
  CHECK(contains(relays.ask<Fault>(CheckHealth{}).reason, "do not know"));
  time_to_cross(ends, 0);
}
