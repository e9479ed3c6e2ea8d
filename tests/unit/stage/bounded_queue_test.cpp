#include <paretopipe/stage/bounded_queue.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include <support/catch.hpp>

using namespace paretopipe;
using stage::BoundedQueue;

TEST_CASE("what goes in first comes out first, and never more is held than the capacity") {
  constexpr int kCount = 2000;
  constexpr int kCapacity = 3;
  BoundedQueue<int> queue(kCapacity);
  std::atomic<int> pushed = 0;
  std::thread producer([&] {
    for (int i = 0; i < kCount; ++i) {
      queue.push(i);
      ++pushed;
    }
  });
  int wrong = 0;
  int most_held = 0;
  for (int popped = 0; popped < kCount; ++popped) {
    most_held = std::max(most_held, pushed - popped);
    wrong += queue.pop() != popped;
  }
  producer.join();
  CHECK(wrong == 0);
  CHECK(most_held <= kCapacity);
}

TEST_CASE("close releases whoever waits for a value, for good") {
  BoundedQueue<int> queue(1);
  auto waiting = std::async(std::launch::async, [&] { return queue.pop(); });
  queue.close();
  CHECK_FALSE(waiting.get().has_value());
  CHECK_FALSE(queue.pop().has_value());
}

TEST_CASE("close releases whoever waits for room, for good, and the value is not taken") {
  BoundedQueue<std::shared_ptr<int>> queue(1);
  const auto value = std::make_shared<int>(1);
  REQUIRE(queue.push(value));
  auto waiting = std::async(std::launch::async, [&] { return queue.push(value); });
  queue.close();
  CHECK_FALSE(waiting.get());
  CHECK_FALSE(queue.push(value));
  CHECK(value.use_count() == 2);  // here, and in the queue from before
}

TEST_CASE("what was queued at the close is dropped with the queue") {
  const auto value = std::make_shared<int>(1);
  {
    BoundedQueue<std::shared_ptr<int>> queue(2);
    queue.push(value);
    queue.close();
    queue.close();
    CHECK_FALSE(queue.pop().has_value());
  }
  CHECK(value.use_count() == 1);
}

TEST_CASE("values that cannot be copied pass") {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  queue.push(std::make_unique<int>(5));
  CHECK(**queue.pop() == 5);
}
