#pragma once
#include <cstdint>
#include <random>

namespace paretopipe {

/// Draws from [0, bound) without bias; bound > 0. The standard specifies what mt19937_64 yields, but not the results of
/// its distributions. With this function a seed means the same on every standard library.
inline std::uint64_t draw_below(std::mt19937_64& random, std::uint64_t bound) {
  const std::uint64_t biased = (0 - bound) % bound;  // 2^64 mod bound: this many of the smallest values are left out
  std::uint64_t value = random();
  while (value < biased) value = random();
  return value % bound;
}

}  // namespace paretopipe
