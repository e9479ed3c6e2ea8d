#pragma once
#include <bit>
#include <cstdint>

#include "kernels.hpp"

// Internal: how a value becomes a code.
namespace paretopipe::codec {

inline std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// Values that are all equal have no step to divide by.
inline float divisor_of(const Levels& levels) {
  return levels.step > 0 ? levels.step : 1;
}

/// A sum with this has units in its last place.
inline constexpr float kUnits = 0x1.8p23F;

/// Rounds a number below 2^22 to the nearest integer, halves to the even one, as the addition does. No CPU needs an
/// instruction for that.
inline int rounded(float number) {
  return static_cast<int>(bits_of(number + kUnits) - bits_of(kUnits));
}

}  // namespace paretopipe::codec
