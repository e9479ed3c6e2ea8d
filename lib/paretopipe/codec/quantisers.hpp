#pragma once
#include <paretopipe/codec/codec.hpp>

// Internal: quantisers of float32.
namespace paretopipe::codec {

/// A sort quantiser: 2^group_bits groups of equal count, 2^level_bits levels in each.
struct SortBits {
  int group_bits = 0;
  int level_bits = 0;
  int carried = 0;  ///< bits of a code on the wire, at least the sum of the two

  int groups() const { return 1 << group_bits; }
  int levels() const { return 1 << level_bits; }
};

/// Throws Error(internal) for one that does not sort.
SortBits sort_bits(Quantiser quantiser);

/// Bytes that the quantiser makes of `layout`, whatever the values are; of jpeg the most. It must not be none.
std::size_t quantised_bytes(Quantiser quantiser, const Layout& layout);

/// Encodes into `into`, which has exactly that many bytes, and returns how many of them were filled. Throws
/// CannotEncode.
std::size_t quantise(const Codec& codec, const Layout& layout, std::span<const float> values, std::span<std::byte> into,
                     Scratch& scratch);

/// `body` has exactly that many bytes; with jpeg it may have any number.
void restore(Quantiser quantiser, const Layout& layout, std::span<const std::byte> body, std::span<float> values,
             Scratch& scratch);

}  // namespace paretopipe::codec
