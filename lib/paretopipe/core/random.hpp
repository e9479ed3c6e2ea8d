#pragma once
#include <cstdint>
#include <random>

namespace paretopipe {

/// Unbiased draw from [0, bound), bound > 0. The standard fixes what mt19937_64 yields, but not what its distributions
/// make of it: with this, a seed means the same on every standard library.
inline std::uint64_t draw_below(std::mt19937_64& random, std::uint64_t bound) {
  const std::uint64_t biased = (0 - bound) % bound;  // 2^64 mod bound: as many of the smallest values are left out
  std::uint64_t value = random();
  while (value < biased) value = random();
  return value % bound;
}

}  // namespace paretopipe
