#pragma once
#include <paretopipe/codec/codec.hpp>

// Internal: the pixels of images that were normalised for a model (pixels.hpp), in 8 bits.
namespace paretopipe::codec {

/// The nearest pixel of every value. Throws CannotEncode for a tensor without three channels, and for a value that no
/// pixel has.
void to_pixels(const Layout& layout, std::span<const float> values, std::uint8_t* pixels);

/// The reverse: the same bits as from the normalisation of these pixels.
void from_pixels(const Layout& layout, const std::uint8_t* pixels, std::span<float> values);

}  // namespace paretopipe::codec
