#pragma once
#include <chrono>
#include <cstdint>

namespace paretopipe {

/// The clock of every measurement. On Linux it is CLOCK_MONOTONIC, which all processes of a host share, so time points
/// from two stages on the same host are directly comparable.
using Clock = std::chrono::steady_clock;
static_assert(Clock::is_steady, "measurements need a clock that never steps");
static_assert(std::is_same_v<Clock::period, std::nano>, "time points are kept as whole nanoseconds");

using Nanoseconds = std::chrono::nanoseconds;

/// The steady clock in nanoseconds. Its origin is the host's boot, so only differences are meaningful.
inline std::int64_t now_ns() {
  return Clock::now().time_since_epoch().count();
}

}  // namespace paretopipe
