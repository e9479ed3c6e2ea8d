#include <paretopipe/stats/fence.hpp>
#include <paretopipe/stats/pace.hpp>
#include <paretopipe/stats/warmup.hpp>

#include <algorithm>

namespace paretopipe::stats {

int leading_slow(std::span<const std::int64_t> durations_ns) {
  if (durations_ns.size() < 8) return 0;
  const auto half = durations_ns.size() / 2;
  const auto fence = *outer_fence_ns(durations_ns.subspan(half));
  const auto settled = std::find_if(durations_ns.begin(), durations_ns.begin() + static_cast<std::ptrdiff_t>(half),
                                    [&](auto duration) { return static_cast<double>(duration) <= fence; });
  return static_cast<int>(settled - durations_ns.begin());
}

int settled_latency_warmup(const record::PhaseSamples& single_stream) {
  return single_stream.warmup + leading_slow(measured_latencies_ns(single_stream));
}

int settled_throughput_warmup(const record::PhaseSamples& offline) {
  return offline.warmup + leading_slow(measured_intervals_ns(offline));
}

}  // namespace paretopipe::stats
