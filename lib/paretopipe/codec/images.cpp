#include "images.hpp"

#include <paretopipe/codec/pixels.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

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

/// Names the first value that is no pixel's, which is searched only once there is one.
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
    pixels[i] = static_cast<std::uint8_t>(static_cast<int>(std::clamp(level, 0.0F, kBrightest) + 0.5F));
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

}  // namespace paretopipe::codec
