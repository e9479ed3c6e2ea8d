#include <paretopipe/stats/fence.hpp>
#include <paretopipe/stats/outliers.hpp>
#include <paretopipe/stats/pace.hpp>

#include <vector>

namespace paretopipe::stats {
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
