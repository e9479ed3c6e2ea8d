#pragma once
// Tensors that cross a link in tests.
#include <paretopipe/wire/frame.hpp>
#include <paretopipe/wire/link.hpp>

#include <cstddef>
#include <cstdint>
#include <future>
#include <vector>

#include <support/catch.hpp>

namespace paretopipe::wire {

/// A tensor of so many bytes, an even number.
inline TensorSpec bytes_spec(std::size_t size) {
  return {DType::bfloat16, MemoryFormat::contiguous, {static_cast<std::int64_t>(size / 2)}};
}

inline std::vector<std::byte> pattern(std::size_t size, std::size_t seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i * 31 + seed * 7 + i / 4096) & 0xff);
  return bytes;
}

/// Sends tensors of these sizes from each end to the other at once, and checks that every bit arrives.
inline void check_both_directions(Link& a, Link& b, const std::vector<std::size_t>& sizes) {
  const auto send_all = [&sizes](Link& link, std::uint32_t tag) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      link.send_tensor(tag, i, bytes_spec(sizes[i]), pattern(sizes[i], i + tag));
    }
  };
  const auto receive_all = [&sizes](Link& link, std::uint32_t tag) {
    bool right = true;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<std::byte> bytes(sizes[i]);
      link.receive_tensor(tag, i, bytes_spec(sizes[i]), bytes);
      right = right && bytes == pattern(sizes[i], i + tag);
    }
    return right;
  };
  auto send_a = std::async(std::launch::async, [&] { send_all(a, 1); });
  auto send_b = std::async(std::launch::async, [&] { send_all(b, 2); });
  auto receive_a = std::async(std::launch::async, [&] { return receive_all(a, 2); });
  CHECK(receive_all(b, 1));
  CHECK(receive_a.get());
  CHECK_NOTHROW(send_a.get());
  CHECK_NOTHROW(send_b.get());
}

}  // namespace paretopipe::wire
