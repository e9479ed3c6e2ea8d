#pragma once
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe {

/// The moments of every batch of a Server phase: one entry per batch in the order of arrival, in nanoseconds of stage
/// 0's steady clock. A batch's successive moments never decrease. Latency is `completed` − `scheduled`, so that waiting
/// behind a late batch counts (no coordinated omission).
struct ServerTimeline {
  std::vector<std::int64_t> scheduled;    ///< its arrival, fixed before the phase began
  std::vector<std::int64_t> handed_over;  ///< to the pipeline: it had arrived and fewer than `depth` were in flight
  std::vector<std::int64_t> completed;    ///< the result of its last micro-batch is back

  bool operator==(const ServerTimeline&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerTimeline, scheduled, handed_over, completed)

}  // namespace paretopipe
