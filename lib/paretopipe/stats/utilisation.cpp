#include <paretopipe/core/error.hpp>
#include <paretopipe/stats/per_batch_series.hpp>
#include <paretopipe/stats/utilisation.hpp>

#include <algorithm>

namespace paretopipe::stats {

CompletionWindow completion_window(const record::PhaseSamples& offline) {
  const auto completed = of_last_micro_batches(offline.results.completed, offline.micro_batches);
  const auto begin = completed.begin() + offline.warmup;
  const auto end = completed.end();
  const auto [first, last] = std::minmax_element(begin, end);
  if (begin == end || *first == *last) {
    throw UsageError(
        fmt::format("throughput is the rate between two completions, and there were {} after warm-up at "
                    "one moment; measure at least 2 batches",
                    end - begin));
  }
  return {*first, *last, static_cast<std::size_t>(end - begin)};
}

std::vector<Stretch> bubbles(const StageTimeline& stage, const CompletionWindow& window) {
  std::vector<Stretch> computes;
  for (std::size_t i = 0; i < stage.compute_begin.size(); ++i) {
    computes.push_back({stage.compute_begin[i], stage.compute_end[i]});
  }
  std::sort(computes.begin(), computes.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });

  std::vector<Stretch> idle;
  auto reached = window.first;
  const auto rest_until = [&](std::int64_t moment) {
    const auto end = std::min(moment, window.last);
    if (end > reached) idle.push_back({reached, end});
  };
  for (const auto& compute : computes) {
    rest_until(compute.begin);
    reached = std::max(reached, compute.end);
  }
  rest_until(window.last);
  return idle;
}

}  // namespace paretopipe::stats
