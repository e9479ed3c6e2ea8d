#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace paretopipe::compute {

/// Red, green and blue of each pixel, row by row.
struct DecodedImage {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;  ///< height x width x 3
};

/// The most pixels that a header may claim; checked before memory is allocated.
inline constexpr std::int64_t kMostPixels = 50'000'000;

/// Decodes a JPEG or PNG file, told apart by their first bytes. Grey becomes three equal channels, transparency is
/// dropped, 16 bits are rounded to 8, and palettes are looked up. Colour profiles, gamma and the EXIF orientation are
/// ignored, as in Pillow. Throws UsageError, naming the file, if it is neither format, truncated, damaged, larger than
/// kMostPixels, or a JPEG in CMYK, which has no red.
DecodedImage decode_image(const std::filesystem::path& file);

// The two decoders. They throw UsageError with a sentence that does not name the file.
DecodedImage decode_jpeg(std::span<const std::byte> file);
DecodedImage decode_png(std::span<const std::byte> file);

/// Makes an image of that size with memory for its pixels. Throws UsageError for no pixels or more than kMostPixels.
DecodedImage make_image(std::int64_t width, std::int64_t height);

}  // namespace paretopipe::compute
