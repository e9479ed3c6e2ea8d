#include "images.hpp"

#include <paretopipe/codec/jpeg.hpp>
#include <paretopipe/codec/pixels.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "kernels.hpp"

namespace paretopipe::codec {

namespace {

constexpr float kBrightest = 255;

/// The pixel before it is rounded.
float pixel_of(float value, std::size_t colour) {
  return (value * kPixelDeviation[colour] + kPixelMean[colour]) * kBrightest;
}

/// False for NaN, too.
bool is_pixel(float level) {
  return level > -0.5F && level < kBrightest + 0.5F;
}

std::size_t colour_of(const Layout& layout, std::size_t place) {
  return place / layout.stride % kPixelMean.size();
}

/// Names the first value that no pixel has. It is searched for only once there is one.
[[noreturn]] void refuse(const Layout& layout, std::span<const float> values) {
  std::size_t place = 0;
  while (is_pixel(pixel_of(values[place], colour_of(layout, place)))) ++place;
  throw CannotEncode(fmt::format("value {} of {} is {}, which no pixel of a normalised image has", place, values.size(),
                                 values[place]));
}

/// True if all of one colour's values are pixels.
bool to_pixels(std::span<const float> values, std::size_t colour, std::uint8_t* pixels) {
  bool all = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto level = pixel_of(values[i], colour);
    all &= is_pixel(level);
    const float held = std::min(std::max(0.0F, level), kBrightest);  // 0 for NaN, which becomes no integer
    pixels[i] = static_cast<std::uint8_t>(static_cast<int>(held + 0.5F));
  }
  return all;
}

using Table = std::array<float, 256>;

Table table_of(std::size_t colour) {
  Table table{};
  for (std::size_t pixel = 0; pixel < table.size(); ++pixel) {
    table[pixel] = (static_cast<float>(pixel) / kBrightest - kPixelMean[colour]) / kPixelDeviation[colour];
  }
  return table;
}

}  // namespace

void to_pixels(const Layout& layout, std::span<const float> values, std::uint8_t* pixels) {
  if (layout.channels != kPixelMean.size()) {
    throw CannotEncode(fmt::format("an image has {} channels, and this tensor {}", kPixelMean.size(), layout.channels));
  }
  for (std::size_t begin = 0; begin < values.size(); begin += layout.stride) {
    const auto plane = values.subspan(begin, layout.stride);
    if (!to_pixels(plane, colour_of(layout, begin), pixels + begin)) refuse(layout, values);
  }
}

void from_pixels(const Layout& layout, const std::uint8_t* pixels, std::span<float> values) {
  static const std::array tables{table_of(0), table_of(1), table_of(2)};
  for (std::size_t begin = 0; begin < values.size(); begin += layout.stride) {
    const auto& table = tables[colour_of(layout, begin)];
    std::transform(pixels + begin, pixels + begin + layout.stride, values.begin() + static_cast<std::ptrdiff_t>(begin),
                   [&](std::uint8_t pixel) { return table[pixel]; });
  }
}

namespace {

using Length = std::uint32_t;

std::size_t values_of_image(const Layout& layout) {
  return kPixelMean.size() * layout.height * layout.width;
}

bool holds_images(const Layout& layout) {
  return layout.channels == kPixelMean.size() && layout.values % values_of_image(layout) == 0 &&
         (layout.stride == 1 || layout.stride == layout.height * layout.width);
}

/// True if the tensor has a plane for each colour. A JPEG has the colours of each pixel together.
bool has_planes(const Layout& layout) {
  return layout.stride > 1;
}

/// Takes the next image's JPEG off the body.
std::span<const std::byte> take_jpeg(std::span<const std::byte>& body) {
  Length length = 0;
  if (body.size() < sizeof(length)) throw Damaged("a body that ends before the length of its next JPEG");
  std::memcpy(&length, body.data(), sizeof(length));
  body = body.subspan(sizeof(length));
  if (body.size() < length) throw Damaged(fmt::format("{} of {} bytes of a JPEG", body.size(), length));
  const auto jpeg = body.first(length);
  body = body.subspan(length);
  return jpeg;
}

void read_image(const Layout& layout, std::span<const std::byte> jpeg, std::span<std::uint8_t> pixels,
                Scratch& scratch) {
  scratch.shuffled.resize(pixels.size());
  auto* const into = has_planes(layout) ? reinterpret_cast<std::uint8_t*>(scratch.shuffled.data()) : pixels.data();
  read_jpeg(jpeg, [&](std::size_t width, std::size_t height) {
    if (width == layout.width && height == layout.height) return into;
    throw Damaged(
        fmt::format("a JPEG of {} x {} pixels instead of {} x {}", width, height, layout.width, layout.height));
  });
  if (!has_planes(layout)) return;
  shuffle(scratch.shuffled, kPixelMean.size(), reinterpret_cast<std::byte*>(pixels.data()));
}

/// The pixels with the colours of each together, as a JPEG has them.
std::span<const std::uint8_t> interleaved(const Layout& layout, std::span<const std::uint8_t> pixels,
                                          Scratch& scratch) {
  if (!has_planes(layout)) return pixels;
  scratch.shuffled.resize(pixels.size());
  unshuffle(std::as_bytes(pixels), kPixelMean.size(), scratch.shuffled.data());
  return {reinterpret_cast<const std::uint8_t*>(scratch.shuffled.data()), pixels.size()};
}

}  // namespace

std::size_t most_bytes_of_jpegs(const Layout& layout) {
  const auto images = layout.values / values_of_image(layout);
  return images * (sizeof(Length) + most_jpeg_bytes(layout.width, layout.height));
}

std::size_t to_jpegs(const Layout& layout, std::span<const float> values, int quality, std::span<std::byte> into,
                     Scratch& scratch) {
  scratch.codes.resize(values.size());
  to_pixels(layout, values, scratch.codes.data());
  if (!holds_images(layout)) throw CannotEncode("these values are no images of one size");
  std::size_t filled = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += values_of_image(layout)) {
    const auto image = std::span(scratch.codes).subspan(begin, values_of_image(layout));
    const auto room = into.subspan(filled + sizeof(Length), most_jpeg_bytes(layout.width, layout.height));
    const auto length = static_cast<Length>(
        write_jpeg(interleaved(layout, image, scratch), layout.width, layout.height, quality, room));
    std::memcpy(into.data() + filled, &length, sizeof(length));
    filled += sizeof(length) + length;
  }
  return filled;
}

void from_jpegs(const Layout& layout, std::span<const std::byte> body, std::span<float> values, Scratch& scratch) {
  if (!holds_images(layout)) throw Damaged("JPEGs in place of a tensor that holds no images");
  scratch.codes.resize(values.size());
  for (std::size_t begin = 0; begin < values.size(); begin += values_of_image(layout)) {
    const auto pixels = std::span(scratch.codes).subspan(begin, values_of_image(layout));
    read_image(layout, take_jpeg(body), pixels, scratch);
  }
  if (!body.empty()) throw Damaged(fmt::format("{} bytes behind the last JPEG", body.size()));
  from_pixels(layout, scratch.codes.data(), values);
}

}  // namespace paretopipe::codec
