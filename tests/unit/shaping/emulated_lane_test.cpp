// A lane between two pairs of sockets, at moments that the test chooses: nothing waits.
#include <paretopipe/launch/file_descriptor.hpp>
#include <paretopipe/shaping/emulated/lane.hpp>

#include <array>
#include <string>
#include <vector>

#include <sys/socket.h>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;

namespace {

experiment::LinkConditions delayed(Nanoseconds delay) {
  experiment::LinkConditions conditions;
  conditions.delay = delay;
  return conditions;
}

/// A connection of which the lane has one end.
struct Connection {
  Connection() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    outside = launch::FileDescriptor(ends[0]);
    lane = launch::FileDescriptor(ends[1]);
  }
  /// What has come out, at most `most`; nothing if nothing has.
  std::string take(std::size_t most = 1 << 20) const {
    std::string bytes(most, '\0');
    const auto got = ::recv(outside.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  void give(const std::string& bytes) const {
    REQUIRE(::send(outside.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size()));
  }

  launch::FileDescriptor outside;
  launch::FileDescriptor lane;
};

}  // namespace

TEST_CASE("a lane that is woken in time hands on at the moment, not before, and is not late", "[lateness]") {
  const Connection sender;
  const Connection receiver;
  EmulatedLane lane(delayed(50ms), 1);
  LatenessMeter lateness(1ms);
  sender.give("hello");
  lane.read_from(sender.lane.get());
  const auto due = lane.next_due();
  lane.write_to(receiver.lane.get(), due - 1ns, lateness);
  CHECK(receiver.take().empty());
  CHECK_FALSE(lateness.summary().has_value());
  lane.write_to(receiver.lane.get(), due, lateness);
  CHECK(receiver.take() == "hello");
  CHECK(lateness.summary() == experiment::Lateness{1'000'000, 1, 0, 0, 0, 0});
}

TEST_CASE("a lane that is woken late says by how much, for each piece that waited", "[lateness]") {
  const Connection sender;
  const Connection receiver;
  auto conditions = delayed(50ms);
  conditions.rate_bit_per_s = 12'000'000;  // a piece of 1500 bytes takes 1 ms
  EmulatedLane lane(conditions, 1);
  LatenessMeter lateness(1ms);
  sender.give(std::string(3 * 1500, 'x'));
  lane.read_from(sender.lane.get());
  const auto first = lane.next_due();
  lane.write_to(receiver.lane.get(), first + 2500us, lateness);
  CHECK(receiver.take().size() == 3 * 1500);
  // 2.5, 1.5 and 0.5 ms late: the pieces behind one that is late keep their own moments.
  const auto summary = lateness.summary().value();
  CHECK(summary.deliveries == 3);
  CHECK(summary.late == 2);
  CHECK(summary.mean_ns == 1'500'000);
  CHECK(summary.max_ns == 2'500'000);
}

TEST_CASE("what falls due while the receiver takes nothing is not the lane's lateness", "[lateness]") {
  const Connection sender;
  const Connection receiver;
  EmulatedLane lane(delayed(1ms), 1);
  LatenessMeter lateness(1ms);
  auto now = Clock::now();
  for (std::size_t given = 0; !lane.blocked(); given += 10'000) {
    REQUIRE(given < 64 << 20);  // no socket holds so much
    sender.give(std::string(10'000, 'x'));
    lane.read_from(sender.lane.get());
    now = std::max(now, lane.next_due());
    lane.write_to(receiver.lane.get(), now, lateness);
  }
  const auto before = lateness.summary().value();
  CHECK(before.late == 0);
  sender.give("last");
  lane.read_from(sender.lane.get());
  std::string received;
  for (std::string some; !(some = receiver.take()).empty();) {
    received = some;
    lane.write_to(receiver.lane.get(), now + 1h, lateness);
  }
  CHECK(received.substr(received.size() - 4) == "last");
  CHECK(lateness.summary() == before);
}

TEST_CASE("the end of a stream is no delivery", "[lateness]") {
  const Connection sender;
  const Connection receiver;
  EmulatedLane lane(delayed(1ms), 1);
  LatenessMeter lateness(1ms);
  ::shutdown(sender.outside.get(), SHUT_WR);
  lane.read_from(sender.lane.get());
  lane.write_to(receiver.lane.get(), lane.next_due() + 1h, lateness);
  CHECK(lane.state() == EmulatedLane::State::ended);
  CHECK_FALSE(lateness.summary().has_value());
}
