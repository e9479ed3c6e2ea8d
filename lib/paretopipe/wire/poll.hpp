#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>

#include <poll.h>

// Internal to wire.
namespace paretopipe::wire {

/// poll(2) until a deadline. Returns the number of ready descriptors. Also returns 0 after a signal and on very long
/// waits, so the caller must check the clock itself. Throws EnvironmentError if the kernel refuses.
inline int poll_until(std::span<pollfd> waiting, Clock::time_point deadline) {
  using namespace std::chrono_literals;
  // Compared before subtracting, and limited to what poll can count: time_point::max() means "for ever".
  const auto now = Clock::now();
  const auto rest = deadline > now ? std::min<Clock::duration>(deadline - now, 1h) : Clock::duration::zero();
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(rest).count();
  const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(milliseconds));
  if (ready < 0 && errno != EINTR) throw system_error("wait for a socket", errno);
  return std::max(ready, 0);
}

}  // namespace paretopipe::wire
