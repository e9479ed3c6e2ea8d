#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>
#include <optional>

namespace paretopipe::host {

/// The clock that tells the time of day. Nothing is measured with it. A time daemon, such as chrony, states how exactly
/// it keeps this clock. That claim can be compared with the offset that two machines find by exchanging messages.
struct WallClock {
  std::int64_t ahead_of_steady_ns = 0;  ///< its reading less the steady clock's (now_ns) at the same moment
  /// How far it may be from the true time, as its daemon has told the kernel (adjtimex(2), maxerror). Absent if no
  /// daemon keeps the clock, or if the kernel does not tell.
  std::optional<std::int64_t> error_bound_ns{};

  bool operator==(const WallClock&) const = default;
};
PARETOPIPE_JSON(WallClock, ahead_of_steady_ns, error_bound_ns)

WallClock read_wall_clock();

}  // namespace paretopipe::host
