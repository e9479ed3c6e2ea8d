#pragma once
#include <paretopipe/codec/codec.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <support/catch.hpp>

// Tensors through a codec and back.
namespace paretopipe::codec::testing {

inline Layout layout_of(std::size_t values, std::size_t channels = 1, std::size_t stride = 1) {
  return {Element::float32, values, channels, stride};
}

/// Encodes into memory of the promised size, between bytes that nothing may touch.
inline std::vector<std::byte> encoded(const Codec& codec, const Layout& layout, std::span<const std::byte> values) {
  constexpr std::byte kGuard{0xa5};
  std::vector<std::byte> memory(most_bytes(codec, layout) + 64, kGuard);
  Scratch scratch;
  const auto size = encode(codec, layout, values, std::span(memory).first(memory.size() - 64), scratch);
  CHECK(std::all_of(memory.end() - 64, memory.end(), [&](auto byte) { return byte == kGuard; }));
  REQUIRE(size <= memory.size() - 64);
  memory.resize(size);
  return memory;
}

template <class Value>
std::vector<Value> decoded(const Codec& codec, const Layout& layout, std::span<const std::byte> body) {
  std::vector<Value> values(layout.values);
  Scratch scratch;
  decode(codec, layout, body, std::as_writable_bytes(std::span(values)), scratch);
  return values;
}

template <class Value>
std::vector<Value> there_and_back(const std::string& name, const Layout& layout, const std::vector<Value>& values) {
  const auto codec = parse(name);
  const auto body = encoded(codec, layout, std::as_bytes(std::span(values)));
  const bool compresses = codec.compressor != Compressor::none || codec.quantiser == Quantiser::jpeg;
  if (!compresses) CHECK(body.size() == most_bytes(codec, layout));
  return decoded<Value>(codec, layout, body);
}

inline std::vector<float> floats_at_the_front(const std::vector<std::byte>& body, std::size_t count) {
  std::vector<float> floats(count);
  std::memcpy(floats.data(), body.data(), count * sizeof(float));
  return floats;
}

/// Infinite if a difference is NaN.
inline double largest_error(const std::vector<float>& left, const std::vector<float>& right) {
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double error = std::abs(double{left[i]} - double{right[i]});
    largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
    if (std::isinf(largest)) break;
  }
  return largest;
}

}  // namespace paretopipe::codec::testing
