#pragma once
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paretopipe::stats {

/// The time between the first and the last completion after warm-up: what throughput and utilisation refer to. Moments
/// in nanoseconds of the phase's time base.
struct CompletionWindow {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t batches = 0;  ///< completed after warm-up, the first one, which only starts the clock, included

  double length_ns() const { return static_cast<double>(last - first); }
};

/// Of samples that breakdown() accepts. Throws UsageError where no time passes between the two.
CompletionWindow completion_window(const record::PhaseSamples& offline);

/// A stretch of time, in nanoseconds of the phase's time base.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const Stretch&) const = default;
};

/// When a stage computed nothing within the window, in order; none is empty. A stage computes one micro-batch at a
/// time, so that their lengths add up to StageUtilisation::bubble times the window.
std::vector<Stretch> bubbles(const StageTimeline& stage, const CompletionWindow& window);

}  // namespace paretopipe::stats
