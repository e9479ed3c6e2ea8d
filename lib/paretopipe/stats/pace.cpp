#include <paretopipe/stats/breakdown.hpp>
#include <paretopipe/stats/pace.hpp>
#include <paretopipe/stats/per_batch_series.hpp>

#include <algorithm>
#include <numeric>

namespace paretopipe::stats {

std::vector<std::int64_t> measured_intervals_ns(const record::PhaseSamples& offline) {
  breakdown(offline);  // refuses damaged samples
  auto intervals = of_last_micro_batches(offline.results.completed, offline.micro_batches);
  std::sort(intervals.begin(), intervals.end());  // devices overtake one another
  std::adjacent_difference(intervals.begin(), intervals.end(), intervals.begin());
  intervals.erase(intervals.begin(), intervals.begin() + offline.warmup + 1);
  return intervals;
}

std::vector<std::int64_t> measured_latencies_ns(const record::PhaseSamples& single_stream) {
  auto latencies = breakdown(single_stream).latency_ns;
  latencies.erase(latencies.begin(), latencies.begin() + single_stream.warmup);
  return latencies;
}

}  // namespace paretopipe::stats
