#pragma once
#include <paretopipe/core/clock.hpp>

#include <thread>

namespace paretopipe::support {

/// Asks until the answer is as wanted, and returns it. After five minutes, which only a hang takes, it returns the last
/// answer, for the caller to check.
template <class Ask, class Wanted>
auto wait_for(const Ask& ask, const Wanted& wanted) {
  const auto give_up = Clock::now() + std::chrono::minutes(5);
  auto answer = ask();
  while (!wanted(answer) && Clock::now() < give_up) {
    std::this_thread::yield();
    answer = ask();
  }
  return answer;
}

}  // namespace paretopipe::support
