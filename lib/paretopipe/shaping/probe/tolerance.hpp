#pragma once
#include <paretopipe/core/clock.hpp>

#include <algorithm>

namespace paretopipe::shaping {

/// How far a network may be from its profile; beyond, nothing that is measured over it counts.
constexpr double kTolerance = 0.05;

/// Of a time, at least a millisecond.
inline Nanoseconds tolerance_of(Nanoseconds time) {
  const auto share = std::chrono::duration_cast<Nanoseconds>(kTolerance * time);
  return std::max<Nanoseconds>(std::chrono::milliseconds(1), share);
}

}  // namespace paretopipe::shaping
