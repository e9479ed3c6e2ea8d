#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

/// JPEG, by libjpeg. Pixels are red, green and blue, row by row.
namespace paretopipe::codec {

/// Gives memory for width · height · 3 bytes, once a header has said the size. If it throws, the image is refused.
using PixelMemory = std::function<std::uint8_t*(std::size_t width, std::size_t height)>;

/// Decodes a JPEG that a stranger may have written. Grey becomes three equal channels. Throws Damaged if it is
/// truncated, damaged, or in CMYK, which has no red; part of the memory may then be filled.
void read_jpeg(std::span<const std::byte> jpeg, const PixelMemory& memory);

/// Room for an image of any content: libjpeg-turbo's tjBufSize for 4:2:0.
std::size_t most_jpeg_bytes(std::size_t width, std::size_t height);

/// Encodes an image as baseline JPEG with half as much resolution of colour in both directions (4:2:0), libjpeg's usual
/// way, and returns how many bytes were filled. `quality` is libjpeg's, 1 to 100. Throws CannotEncode if libjpeg
/// cannot, or has no room.
std::size_t write_jpeg(std::span<const std::uint8_t> pixels, std::size_t width, std::size_t height, int quality,
                       std::span<std::byte> into);

}  // namespace paretopipe::codec
