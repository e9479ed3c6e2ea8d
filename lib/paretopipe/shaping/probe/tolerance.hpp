#pragma once
#include <paretopipe/core/clock.hpp>

#include <algorithm>

namespace paretopipe::shaping {

/// The tolerated deviation of a network from its profile; beyond it, nothing measured over the network counts.
constexpr double kTolerance = 0.05;

/// The tolerance of a time: at least a millisecond.
inline Nanoseconds tolerance_of(Nanoseconds time) {
  const auto share = std::chrono::duration_cast<Nanoseconds>(kTolerance * time);
  return std::max<Nanoseconds>(std::chrono::milliseconds(1), share);
}

}  // namespace paretopipe::shaping
