#include <paretopipe/core/clock.hpp>
#include <paretopipe/host/wall_clock.hpp>

#include <chrono>
#include <limits>

#include <sys/timex.h>

namespace paretopipe::host {

namespace {

/// Reads the clock between two readings of the steady clock. Keeps the try whose two readings are closest, because the
/// thread may be interrupted between them.
std::int64_t ahead_of_steady_ns() {
  using std::chrono::nanoseconds;
  std::int64_t ahead = 0, closest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const auto before = now_ns();
    const auto wall = std::chrono::duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
    const auto after = now_ns();
    if (after - before >= closest) continue;
    closest = after - before;
    ahead = wall.count() - (before + closest / 2);
  }
  return ahead;
}

}  // namespace

WallClock read_wall_clock() {
  WallClock clock{.ahead_of_steady_ns = ahead_of_steady_ns()};
  timex kernel{};  // asks, and changes nothing
  if (::adjtimex(&kernel) >= 0 && (kernel.status & STA_UNSYNC) == 0) {
    clock.error_bound_ns = std::int64_t{kernel.maxerror} * 1000;
  }
  return clock;
}

}  // namespace paretopipe::host
