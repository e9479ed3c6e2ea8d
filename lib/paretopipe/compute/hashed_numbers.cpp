#include <paretopipe/compute/hashed_numbers.hpp>
#include <paretopipe/core/hash.hpp>

#include <fmt/format.h>

namespace paretopipe::compute {

float hashed_normal(std::uint64_t key, std::uint64_t index) {
  const std::uint64_t bits = hashed_bits(key, index);
  std::int64_t sum = 0;
  for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int64_t>((bits >> shift) & 0xffff);
  // Mean 4 * 65535 / 2; the variance of the sum is 4 * 65536^2 / 12, up to 2e-10.
  constexpr float kScale = 1.7320508F / 65536;
  return static_cast<float>(sum - 131070) * kScale;
}

std::uint64_t sequence_key(std::uint64_t seed, std::string_view owner, std::string_view name) {
  return fnv1a64(fmt::format("{}/{}/{}", seed, owner, name));
}

void fill_uniform(std::span<float> values, std::uint64_t key, float bound) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = bound * hashed_uniform(key, i);
}

void fill_normal(std::span<float> values, std::uint64_t key) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = hashed_normal(key, i);
}

}  // namespace paretopipe::compute
