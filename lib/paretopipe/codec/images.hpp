#pragma once
#include <paretopipe/codec/codec.hpp>

// Internal: images that were normalised for a model (pixels.hpp), as pixels of 8 bits or as JPEG.
namespace paretopipe::codec {

/// The nearest pixel of every value. Throws CannotEncode for a tensor without three channels, and for a value that no
/// pixel has.
void to_pixels(const Layout& layout, std::span<const float> values, std::uint8_t* pixels);

/// The reverse. Gives the same bits as the normalisation of these pixels.
void from_pixels(const Layout& layout, const std::uint8_t* pixels, std::span<float> values);

/// The most bytes that to_jpegs() makes of a tensor.
std::size_t most_bytes_of_jpegs(const Layout& layout);

/// Makes a JPEG of every image's nearest pixels, and puts each behind its length in 32 bits. Returns how many bytes
/// were filled. Throws CannotEncode as to_pixels() does.
std::size_t to_jpegs(const Layout& layout, std::span<const float> values, int quality, std::span<std::byte> into,
                     Scratch& scratch);

/// The reverse. Throws Damaged for what is not exactly as many JPEGs of this size.
void from_jpegs(const Layout& layout, std::span<const std::byte> body, std::span<float> values, Scratch& scratch);

}  // namespace paretopipe::codec
