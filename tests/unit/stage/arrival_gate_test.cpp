#include <paretopipe/core/clock.hpp>
#include <paretopipe/stage/source.hpp>

#include <future>

#include <support/catch.hpp>

using paretopipe::now_ns;
using paretopipe::stage::ArrivalGate;

namespace {

constexpr std::int64_t kHour = 3'600'000'000'000;

std::future<bool> entering(ArrivalGate& gate, std::int64_t moment) {
  return std::async(std::launch::async, [&gate, moment] { return gate.enter(moment); });
}

}  // namespace

TEST_CASE("nobody enters before the moment has come, however much room there is") {
  ArrivalGate gate(3);
  const auto moment = now_ns() + 20'000'000;
  CHECK(gate.enter(moment));
  CHECK(now_ns() >= moment);
}

TEST_CASE("a moment that has passed is no reason to wait") {
  ArrivalGate gate(3);
  CHECK(gate.enter(0));
  CHECK(gate.enter(now_ns() - kHour));
  CHECK(gate.enter(now_ns()));
}

TEST_CASE("who finds no room enters when somebody leaves") {
  ArrivalGate gate(2);
  CHECK(gate.enter(0));
  CHECK(gate.enter(0));
  auto third = entering(gate, 0);
  CHECK(third.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
  gate.leave();
  CHECK(third.get());
}

TEST_CASE("room that somebody made before it was wanted is there") {
  ArrivalGate gate(1);
  CHECK(gate.enter(0));
  gate.leave();
  CHECK(gate.enter(0));
}

TEST_CASE("closing releases who waits for a moment, and who waits for room") {
  ArrivalGate gate(1);
  auto early = entering(gate, now_ns() + kHour);
  CHECK(gate.enter(0));
  auto crowded = entering(gate, 0);
  gate.close();
  CHECK_FALSE(early.get());
  CHECK_FALSE(crowded.get());
  CHECK_FALSE(gate.enter(0));
}
