#pragma once
#include <paretopipe/core/error.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paretopipe::files {

static_assert(std::endian::native == std::endian::little, "files of weights are little-endian, and used as they are");

using Bytes = std::span<const std::byte>;

/// `count` bytes from `offset` on; nothing if they do not all exist. Computes no sum that could overflow.
inline std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t count) {
  if (offset > bytes.size() || count > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
}

/// A little-endian integer; its bytes must exist.
template <std::integral Integer>
Integer load(Bytes bytes, std::size_t offset) {
  Integer value{};
  std::memcpy(&value, bytes.subspan(offset, sizeof(value)).data(), sizeof(value));
  return value;
}

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The product; nothing if a factor is negative or the product does not fit int64.
inline std::optional<std::int64_t> checked_product(std::int64_t left, std::int64_t right) {
  std::int64_t product = 0;
  if (left < 0 || right < 0 || __builtin_mul_overflow(left, right, &product)) return std::nullopt;
  return product;
}

inline std::optional<std::int64_t> checked_sum(std::int64_t left, std::int64_t right) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(left, right, &sum)) return std::nullopt;
  return sum;
}

/// A name from a file, made fit for a message: in quotes, escaped, and no longer than a line.
std::string in_quotes(std::string_view name);

/// A whole file mapped into memory, read-only in intent; the kernel reads a page when it is touched. If a library
/// without const-correctness writes to it, the change stays in this process and is lost with `forget`. The size is that
/// at construction: if somebody shortens the file meanwhile, the process ends (SIGBUS), as with every mapping.
class MappedFile {
 public:
  /// Throws UsageError if the file cannot be opened or is no regular file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Bytes bytes() const { return bytes_; }

  /// Returns the pages wholly within a part of bytes() to the system. They no longer count as this process's memory
  /// until they are touched and read again.
  void forget(Bytes part) const;

 private:
  Bytes bytes_;
};

}  // namespace paretopipe::files
