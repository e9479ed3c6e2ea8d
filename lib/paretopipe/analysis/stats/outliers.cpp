#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/outliers.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>

#include <algorithm>
#include <vector>

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

namespace {

/// `first`: the number of the batch that the first duration belongs to.
std::vector<int> far_out(const std::vector<std::int64_t>& durations_ns, int first) {
  std::vector<int> batches;
  const auto fence = outer_fence_ns(durations_ns);
  for (std::size_t i = 0; fence && i < durations_ns.size(); ++i) {
    if (static_cast<double>(durations_ns[i]) > *fence) batches.push_back(first + static_cast<int>(i));
  }
  return batches;
}

}  // namespace

record::Outliers find_outliers(const std::optional<record::PhaseSamples>& single_stream,
                               const std::optional<record::PhaseSamples>& offline) {
  record::Outliers outliers;
  if (single_stream) outliers.single_stream = far_out(measured_latencies_ns(*single_stream), single_stream->warmup);
  if (offline) outliers.offline = far_out(measured_intervals_ns(*offline), offline->warmup + 1);
  return outliers;
}

}  // namespace paretopipe::stats
