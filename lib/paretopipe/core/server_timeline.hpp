#pragma once
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe {

/// The moments of every batch of a Server phase, one entry a batch in the order of arrival, in nanoseconds of stage 0's
/// steady clock. Of a batch they never decrease. Latency is `completed` − `scheduled`: a batch that had to wait
/// because an earlier one was late has waited all the same (no coordinated omission).
struct ServerTimeline {
  std::vector<std::int64_t> scheduled;    ///< when it arrives, as was fixed before the phase began
  std::vector<std::int64_t> handed_over;  ///< to the pipeline: it had arrived, and fewer than `depth` were in flight
  std::vector<std::int64_t> completed;    ///< its last micro-batch's result is back

  bool operator==(const ServerTimeline&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ServerTimeline, scheduled, handed_over, completed)

}  // namespace paretopipe
