#include <paretopipe/codec/codec.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "compressors.hpp"
#include "kernels.hpp"
#include "quantisers.hpp"

namespace paretopipe::codec {

namespace {

bool quantises(const Codec& codec, const Layout& layout) {
  return codec.quantiser != Quantiser::none && layout.element != Element::int64;
}

/// Bytes before a compressor takes them.
std::size_t plain_bytes(const Codec& codec, const Layout& layout) {
  return quantises(codec, layout) ? quantised_bytes(codec.quantiser, layout) : layout.bytes();
}

/// Bytes of an element that a compressor takes; 1 where not all elements have the same width.
std::size_t element_width(const Codec& codec, const Layout& layout) {
  if (!quantises(codec, layout)) return layout.bytes() / std::max(layout.values, std::size_t{1});
  return codec.quantiser == Quantiser::float16 || codec.quantiser == Quantiser::bfloat16 ? 2 : 1;
}

void require(std::size_t found, std::size_t expected, const char* what) {
  if (found != expected) throw Damaged(fmt::format("{} of {} bytes instead of {}", what, found, expected));
}

void check(const Layout& layout, std::size_t bytes) {
  if (layout.bytes() == bytes && layout.values > 0 && layout.values % (layout.channels * layout.stride) == 0) return;
  throw Error(ExitCode::internal,
              fmt::format("a tensor of {} bytes cannot have {} values of {} channels with stride {}", bytes,
                          layout.values, layout.channels, layout.stride));
}

std::span<const float> floats_of(const Layout& layout, std::span<const std::byte> values, Scratch& scratch) {
  if (layout.element == Element::float32) return {reinterpret_cast<const float*>(values.data()), layout.values};
  scratch.values.resize(layout.values);
  from_bfloat16(reinterpret_cast<const std::uint16_t*>(values.data()), scratch.values);
  return scratch.values;
}

void restore_into(const Codec& codec, const Layout& layout, std::span<const std::byte> body, std::span<std::byte> into,
                  Scratch& scratch) {
  if (layout.element == Element::float32) {
    return restore(codec.quantiser, layout, body, {reinterpret_cast<float*>(into.data()), layout.values}, scratch);
  }
  scratch.values.resize(layout.values);
  restore(codec.quantiser, layout, body, scratch.values, scratch);
  bool fits = true;  // not read: what was encoded did fit
  to_bfloat16(scratch.values, reinterpret_cast<std::uint16_t*>(into.data()), fits);
}

}  // namespace

std::size_t most_bytes(const Codec& codec, const Layout& layout) {
  const auto plain = plain_bytes(codec, layout);
  return codec.compressor == Compressor::none ? plain : most_compressed(codec.compressor, plain);
}

std::size_t encode(const Codec& codec, const Layout& layout, std::span<const std::byte> values,
                   std::span<std::byte> into, Scratch& scratch) {
  check(layout, values.size());
  const auto plain = plain_bytes(codec, layout);
  const bool compresses = codec.compressor != Compressor::none;
  std::span<const std::byte> bytes = values;
  if (quantises(codec, layout)) {
    if (compresses) scratch.body.resize(plain);
    const auto quantised = compresses ? std::span(scratch.body) : into.first(plain);
    bytes = quantised.first(quantise(codec, layout, floats_of(layout, values, scratch), quantised, scratch));
  } else if (!compresses) {
    std::memcpy(into.data(), values.data(), plain);
  }
  return compresses ? compress(codec, bytes, element_width(codec, layout), into, scratch) : bytes.size();
}

void decode(const Codec& codec, const Layout& layout, std::span<const std::byte> body, std::span<std::byte> into,
            Scratch& scratch) {
  check(layout, into.size());
  const bool quantised = quantises(codec, layout);
  if (codec.compressor != Compressor::none) {
    if (quantised) scratch.body.resize(plain_bytes(codec, layout));
    const auto plain = quantised ? std::span(scratch.body) : into;
    decompress(codec.compressor, body, element_width(codec, layout), plain, scratch);
    if (!quantised) return;
    body = plain;
  }
  const bool any_size = quantised && codec.quantiser == Quantiser::jpeg;
  if (!any_size) require(body.size(), plain_bytes(codec, layout), "a body");
  if (quantised) return restore_into(codec, layout, body, into, scratch);
  std::memcpy(into.data(), body.data(), body.size());
}

}  // namespace paretopipe::codec
