#pragma once
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paretopipe {

/// 64-bit FNV-1a (Fowler, Noll, Vo; RFC 9923). Stable over machines and releases, because identities and seeds depend
/// on it.
std::uint64_t fnv1a64(std::string_view bytes);

/// `value` as 16 lower-case hexadecimal digits.
std::string to_hex(std::uint64_t value);

/// Draws from [0, bound) without bias; bound > 0. The standard specifies what mt19937_64 yields, but not the results of
/// its distributions. With this function a seed means the same on every standard library.
inline std::uint64_t draw_below(std::mt19937_64& random, std::uint64_t bound) {
  const std::uint64_t biased = (0 - bound) % bound;  // 2^64 mod bound: this many of the smallest values are left out
  std::uint64_t value = random();
  while (value < biased) value = random();
  return value % bound;
}

/// Shuffles as Fisher and Yates do, in Durstenfeld's form (1964). The same random numbers give the same order
/// everywhere.
template <class Value>
void shuffle(std::vector<Value>& values, std::mt19937_64& random) {
  for (std::size_t remaining = values.size(); remaining > 1; --remaining) {
    std::swap(values[remaining - 1], values[draw_below(random, remaining)]);
  }
}

/// The SHA-256 (FIPS 180-4) of a file's contents, as 64 lower-case hexadecimal digits. Reads the file piece by piece.
/// Throws UsageError if the file cannot be read or is no regular file, because the user chooses the file.
std::string sha256_of_file(const std::filesystem::path& file);

/// The SHA-256 of a text, likewise.
std::string sha256_of_text(std::string_view text);

}  // namespace paretopipe
