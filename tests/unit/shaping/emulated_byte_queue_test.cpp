#include <paretopipe/shaping/emulated/lane.hpp>

#include <cstdint>
#include <random>
#include <vector>

#include <support/catch.hpp>

using paretopipe::shaping::EmulatedByteQueue;

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

/// Whether what was at the front was what had been pushed there.
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
