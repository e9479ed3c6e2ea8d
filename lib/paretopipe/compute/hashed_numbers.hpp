#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace paretopipe::compute {

/// The `index`-th number of the pseudo-random sequence named by `key`: uniform in [-1, 1) and a multiple of 2^-23,
/// hence exact in float32. It is the output function of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014) applied to a counter. It uses only integer arithmetic, so that a Raspberry Pi and
/// an AVX-512 server agree on every bit. LibTorch's generators guarantee this neither across CPU types nor across
/// releases.
inline std::uint64_t hashed_bits(std::uint64_t key, std::uint64_t index) {
  std::uint64_t z = key + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

inline float hashed_uniform(std::uint64_t key, std::uint64_t index) {
  return static_cast<float>(static_cast<std::int64_t>(hashed_bits(key, index) >> 40) - (1 << 23)) * 0x1p-23F;
}

/// Approximately standard normal: a centred and scaled sum of four 16-bit uniforms. Equally portable.
float hashed_normal(std::uint64_t key, std::uint64_t index);

/// The key of one tensor's sequence.
std::uint64_t sequence_key(std::uint64_t seed, std::string_view owner, std::string_view name);

/// values[i] = bound * hashed_uniform(key, i)
void fill_uniform(std::span<float> values, std::uint64_t key, float bound);

/// values[i] = hashed_normal(key, i)
void fill_normal(std::span<float> values, std::uint64_t key);

}  // namespace paretopipe::compute
