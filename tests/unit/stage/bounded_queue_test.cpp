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

TEST_CASE("close releases whoever waits for a value or for room, for good, and what is queued is dropped") {
  BoundedQueue<std::unique_ptr<int>> empty(1);  // values that cannot be copied pass
  auto popping = std::async(std::launch::async, [&] { return empty.pop(); });
  empty.push(std::make_unique<int>(5));
  CHECK(**popping.get() == 5);
  popping = std::async(std::launch::async, [&] { return empty.pop(); });
  empty.close();
  CHECK_FALSE(popping.get().has_value());
  CHECK_FALSE(empty.pop().has_value());

  const auto value = std::make_shared<int>(1);
  {
    BoundedQueue<std::shared_ptr<int>> full(1);
    REQUIRE(full.push(value));
    auto pushing = std::async(std::launch::async, [&] { return full.push(value); });
    full.close();
    full.close();
    CHECK_FALSE(pushing.get());
    CHECK_FALSE(full.push(value));
    CHECK(value.use_count() == 2);  // here, and in the queue from before
    CHECK_FALSE(full.pop().has_value());
  }
  CHECK(value.use_count() == 1);
}
