#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace paretopipe::compute {

/// Red, green and blue of every pixel, row by row.
struct DecodedImage {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;  ///< height x width x 3
};

/// What a header may claim before memory is allocated: fifty megapixels.
inline constexpr std::int64_t kMostPixels = 50'000'000;

/// Decodes a JPEG or PNG file, which it is by its first bytes. Grey becomes three equal channels, transparency is
/// dropped, 16 bits are rounded to 8, a palette is looked up; colour profiles, gamma and the orientation in EXIF are
/// left alone, as Pillow does. Throws UsageError, naming the file, for one that is neither, truncated, damaged, larger
/// than kMostPixels, or a JPEG of four inks (CMYK), which has no red.
DecodedImage decode_image(const std::filesystem::path& file);

// The two decoders. They throw UsageError, a sentence without the file's name.
DecodedImage decode_jpeg(std::span<const std::byte> file);
DecodedImage decode_png(std::span<const std::byte> file);

/// An image of that size with room for its pixels. Throws UsageError for no or too many.
DecodedImage make_image(std::int64_t width, std::int64_t height);

}  // namespace paretopipe::compute
