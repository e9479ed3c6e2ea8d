// A lane between two pairs of sockets, at moments that the test chooses: nothing waits.
#include <paretopipe/core/file_descriptor.hpp>
#include <paretopipe/shaping/emulated/lane.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <sys/socket.h>

#include <support/catch.hpp>

#include "links.hpp"

using namespace paretopipe;
using namespace paretopipe::shaping;
using namespace std::chrono_literals;

namespace {

/// A connection of which the lane has one end.
struct Connection {
  Connection() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    outside = FileDescriptor(ends[0]);
    lane = FileDescriptor(ends[1]);
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

  FileDescriptor outside;
  FileDescriptor lane;
};

/// A lane between a sender and a receiver.
struct LaneBetween {
  explicit LaneBetween(const experiment::LinkConditions& conditions) : lane(conditions, 1) {}

  void read(const std::string& bytes) {
    sender.give(bytes);
    lane.read_from(sender.lane.get());
  }
  void write(Clock::time_point now) { lane.write_to(receiver.lane.get(), now, lateness); }

  const Connection sender, receiver;
  EmulatedLane lane;
  LatenessMeter lateness{1ms};
};

}  // namespace

TEST_CASE("a lane that is woken in time hands on at the moment, not before, and is not late", "[lateness]") {
  LaneBetween between(delayed_link(50ms));
  between.read("hello");
  const auto due = between.lane.next_due();
  between.write(due - 1ns);
  CHECK(between.receiver.take().empty());
  CHECK_FALSE(between.lateness.summary().has_value());
  between.write(due);
  CHECK(between.receiver.take() == "hello");
  CHECK(between.lateness.summary() == experiment::Lateness{1'000'000, 1, 0, 0, 0, 0});
}

TEST_CASE("a lane that is woken late says by how much, for each piece that waited", "[lateness]") {
  LaneBetween between(paced_link(12'000'000, 50ms));  // a piece of 1500 bytes takes 1 ms
  between.read(std::string(3 * 1500, 'x'));
  between.write(between.lane.next_due() + 2500us);
  CHECK(between.receiver.take().size() == 3 * 1500);
  // 2.5, 1.5 and 0.5 ms late: the pieces behind one that is late keep their own moments.
  const auto summary = between.lateness.summary().value();
  CHECK(summary.deliveries == 3);
  CHECK(summary.late == 2);
  CHECK(summary.mean_ns == 1'500'000);
  CHECK(summary.max_ns == 2'500'000);
}

TEST_CASE("what falls due while the receiver takes nothing is not the lane's lateness", "[lateness]") {
  LaneBetween between(delayed_link(1ms));
  auto now = Clock::now();
  for (std::size_t given = 0; !between.lane.blocked(); given += 10'000) {
    REQUIRE(given < 64 << 20);  // no socket holds so much
    between.read(std::string(10'000, 'x'));
    now = std::max(now, between.lane.next_due());
    between.write(now);
  }
  const auto before = between.lateness.summary().value();
  CHECK(before.late == 0);
  between.read("last");
  std::string received;
  for (std::string some; !(some = between.receiver.take()).empty();) {
    received = some;
    between.write(now + 1h);
  }
  CHECK(received.substr(received.size() - 4) == "last");
  CHECK(between.lateness.summary() == before);
}

TEST_CASE("the end of a stream is no delivery", "[lateness]") {
  LaneBetween between(delayed_link(1ms));
  ::shutdown(between.sender.outside.get(), SHUT_WR);
  between.lane.read_from(between.sender.lane.get());
  between.write(between.lane.next_due() + 1h);
  CHECK(between.lane.state() == EmulatedLane::State::ended);
  CHECK_FALSE(between.lateness.summary().has_value());
}

namespace {

std::byte byte_at(std::size_t position) {
  return static_cast<std::byte>((position * 31 + position / 1000) & 0xff);
}

std::size_t push_some(EmulatedByteQueue& queue, std::size_t from, std::size_t count) {
  const auto room = queue.room(count);
  for (std::size_t i = 0; i < room.size(); ++i) room[i] = byte_at(from + i);
  queue.push(room.size());
  return room.size();
}

/// True if what was at the front was what had been pushed there.
bool pop_some(EmulatedByteQueue& queue, std::size_t from, std::size_t count) {
  const auto front = queue.front(count);
  bool right = !front.empty();
  for (std::size_t i = 0; i < front.size(); ++i) right = right && front[i] == byte_at(from + i);
  queue.pop(front.size());
  return right;
}

}  // namespace

TEST_CASE("bytes leave a queue in the order in which they came, whatever the sizes") {
  EmulatedByteQueue queue;
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> any_count(1, 3 * EmulatedByteQueue::kBlock);
  std::size_t pushed = 0;
  std::size_t popped = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    if (random() % 2 == 0) {
      pushed += push_some(queue, pushed, any_count(random));
    } else if (queue.size() > 0) {
      const auto before = queue.size();
      REQUIRE(pop_some(queue, popped, any_count(random)));
      popped += before - queue.size();
    }
    REQUIRE(queue.size() == pushed - popped);
  }
}

TEST_CASE("a queue never gives out more room or bytes than it was asked for, or than lie in one block") {
  EmulatedByteQueue queue;
  CHECK(queue.room(100).size() == 100);
  CHECK(queue.room(1 << 20).size() == EmulatedByteQueue::kBlock);
  queue.push(EmulatedByteQueue::kBlock - 10);
  CHECK(queue.room(100).size() == 10);
  CHECK(queue.front(5).size() == 5);
  CHECK(queue.front(1 << 20).size() == EmulatedByteQueue::kBlock - 10);
}

TEST_CASE("a queue that was cleared can be filled again") {
  EmulatedByteQueue queue;
  for (int i = 0; i < 5; ++i) push_some(queue, 0, EmulatedByteQueue::kBlock);
  push_some(queue, 0, 100);
  queue.clear();
  CHECK(queue.size() == 0);
  push_some(queue, 0, 200);
  CHECK(queue.size() == 200);
  CHECK(pop_some(queue, 0, 200));
}
