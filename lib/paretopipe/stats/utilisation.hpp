#pragma once
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paretopipe::stats {

/// The time between the first and the last completion after warm-up, the window of throughput and utilisation. Moments
/// are in nanoseconds of the phase's time base.
struct CompletionWindow {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t batches = 0;  ///< completed after warm-up, including the first one, which only starts the clock

  double length_ns() const { return static_cast<double>(last - first); }
};

/// `offline` must be accepted by breakdown(). Throws UsageError if no time passes between the two.
CompletionWindow completion_window(const record::PhaseSamples& offline);

/// A period, in nanoseconds of the phase's time base.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const Stretch&) const = default;
};

/// The periods within the window in which a stage computed nothing, in order; none is empty. A stage computes one
/// micro-batch at a time, so their lengths add up to StageUtilisation::bubble times the window.
std::vector<Stretch> bubbles(const StageTimeline& stage, const CompletionWindow& window);

}  // namespace paretopipe::stats
