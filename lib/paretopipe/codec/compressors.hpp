#pragma once
#include <paretopipe/codec/codec.hpp>

// Internal: libzstd and liblz4 behind one interface.
namespace paretopipe::codec {

/// The most bytes that a compressor makes of this many.
std::size_t most_compressed(Compressor compressor, std::size_t bytes);

/// Compresses into `into`, which has room for most_compressed(), and returns how many bytes were filled. Where it pays,
/// first puts all first bytes of the elements together, which have `width` bytes, then all second ones, and so on:
/// exponents resemble each other.
std::size_t compress(const Codec& codec, std::span<const std::byte> bytes, std::size_t width, std::span<std::byte> into,
                     Scratch& scratch);

/// The reverse. Throws Damaged for what does not fill `into` exactly.
void decompress(Compressor compressor, std::span<const std::byte> body, std::size_t width, std::span<std::byte> into,
                Scratch& scratch);

}  // namespace paretopipe::codec
