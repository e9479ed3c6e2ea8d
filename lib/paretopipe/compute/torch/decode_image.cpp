#include <paretopipe/codec/codec.hpp>
#include <paretopipe/codec/jpeg.hpp>
#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/torch/decode_image.hpp>
#include <paretopipe/core/error.hpp>

namespace paretopipe::compute {

namespace {

constexpr std::string_view kJpegBegin = "\xff\xd8\xff";
constexpr std::string_view kPngBegin = "\x89PNG\r\n\x1a\n";

DecodedImage decode(std::span<const std::byte> file) {
  const auto text = files::text_of(file);
  if (text.starts_with(kJpegBegin)) return decode_jpeg(file);
  if (text.starts_with(kPngBegin)) return decode_png(file);
  throw UsageError(text.empty() ? "it is empty" : "it is neither a JPEG nor a PNG file, whatever its name says");
}

}  // namespace

DecodedImage make_image(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || height > kMostPixels / width) {
    throw UsageError(fmt::format("its header claims {} x {} pixels; an image has 1 to {}", width, height, kMostPixels));
  }
  return {height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * 3))};
}

DecodedImage decode_jpeg(std::span<const std::byte> file) {
  DecodedImage image;
  try {
    codec::read_jpeg(file, [&](std::size_t width, std::size_t height) {
      image = make_image(static_cast<std::int64_t>(width), static_cast<std::int64_t>(height));
      return image.pixels.data();
    });
  } catch (const codec::Damaged& error) {
    throw UsageError(error.what());
  }
  return image;
}

DecodedImage decode_image(const std::filesystem::path& file) {
  const files::MappedFile mapped(file);
  return with_prefix(fmt::format("read an image from {}: ", file.string()), [&] { return decode(mapped.bytes()); });
}

}  // namespace paretopipe::compute
