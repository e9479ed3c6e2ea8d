#pragma once
#include <paretopipe/codec/codec.hpp>

// Internal: quantisers of float32.
namespace paretopipe::codec {

/// Bytes that the quantiser, which is not none, makes of `layout`, whatever the values are. For jpeg the most bytes.
std::size_t quantised_bytes(Quantiser quantiser, const Layout& layout);

/// Encodes into `into`, which has exactly that many bytes, and returns how many of them were filled. Throws
/// CannotEncode.
std::size_t quantise(const Codec& codec, const Layout& layout, std::span<const float> values, std::span<std::byte> into,
                     Scratch& scratch);

/// `body` has exactly that many bytes; with jpeg it may have any number.
void restore(Quantiser quantiser, const Layout& layout, std::span<const std::byte> body, std::span<float> values,
             Scratch& scratch);

}  // namespace paretopipe::codec
