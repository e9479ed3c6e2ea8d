#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace paretopipe::compute {

/// The `index`-th number of the pseudo-random sequence that `key` names: uniform in [-1, 1), a multiple of 2^-23, hence
/// exact in float32. It is splitmix64's output function (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014) on a counter: integer arithmetic only, so that a Raspberry Pi and an AVX-512 server agree
/// on every bit. LibTorch's generators promise that neither over CPU types nor over releases.
inline std::uint64_t hashed_bits(std::uint64_t key, std::uint64_t index) {
  std::uint64_t z = key + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

inline float hashed_uniform(std::uint64_t key, std::uint64_t index) {
  return static_cast<float>(static_cast<std::int64_t>(hashed_bits(key, index) >> 40) - (1 << 23)) * 0x1p-23F;
}

/// Close to the standard normal distribution: a centred and scaled sum of four 16-bit uniforms. Same portability.
float hashed_normal(std::uint64_t key, std::uint64_t index);

/// Names the sequence of one tensor.
std::uint64_t sequence_key(std::uint64_t seed, std::string_view owner, std::string_view name);

/// values[i] = bound * hashed_uniform(key, i)
void fill_uniform(std::span<float> values, std::uint64_t key, float bound);

/// values[i] = hashed_normal(key, i)
void fill_normal(std::span<float> values, std::uint64_t key);

}  // namespace paretopipe::compute
