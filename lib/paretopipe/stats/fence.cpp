#include <paretopipe/stats/fence.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <vector>

namespace paretopipe::stats {

std::optional<double> outer_fence_ns(std::span<const std::int64_t> durations_ns) {
  if (durations_ns.size() < 4) return std::nullopt;
  const std::vector<double> values(durations_ns.begin(), durations_ns.end());
  const double q1 = *quantile(values, 0.25);
  const double q3 = *quantile(values, 0.75);
  return std::max(q3 + 3 * (q3 - q1), 1.02 * q3);
}

}  // namespace paretopipe::stats
