#include <paretopipe/codec/pixels.hpp>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <utility>

#include "support/message_of.hpp"
#include "there_and_back.hpp"

using namespace paretopipe;
using namespace paretopipe::codec;
using namespace paretopipe::codec::testing;
using paretopipe::support::contains;
using paretopipe::support::message_of;

namespace {

/// The normalised values of pixels, red, green and blue planes in turn.
std::vector<float> normalised(const std::vector<float>& pixels, std::size_t plane) {
  std::vector<float> values;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto colour = i / plane % 3;
    values.push_back((pixels[i] / 255.0F - kPixelMean.at(colour)) / kPixelDeviation.at(colour));
  }
  return values;
}

}  // namespace

TEST_CASE("the pixels of images come back with every bit, and what lies between them as the nearest one") {
  constexpr std::size_t kPlane = 256;
  std::vector<float> pixels(2 * 3 * kPlane);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % kPlane);
  const auto layout = layout_of(pixels.size(), 3, kPlane);
  const auto exact = normalised(pixels, kPlane);
  CHECK(there_and_back("uint8", layout, exact) == exact);
  CHECK(there_and_back("uint8+zstd", layout, exact) == exact);
  auto between = pixels;
  for (auto& pixel : between) pixel += 0.45F;
  CHECK(there_and_back("uint8", layout, normalised(between, kPlane)) == exact);
}

namespace {

/// Two images of a smooth colour each, so that a JPEG has little to lose.
std::vector<float> smooth_pixels(std::size_t height, std::size_t width) {
  std::vector<float> pixels;
  for (std::size_t plane = 0; plane < 2 * 3; ++plane) {
    for (std::size_t i = 0; i < height * width; ++i) {
      const auto share = static_cast<float>(i / width) / static_cast<float>(height);
      pixels.push_back(std::round(40.0F + 25.0F * static_cast<float>(plane) + 60 * share));
    }
  }
  return pixels;
}

/// The same values where the colours of each pixel are together.
std::vector<float> channels_last(const std::vector<float>& planes, std::size_t plane) {
  std::vector<float> pixels(planes.size());
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const auto image = i / (3 * plane), colour = i / plane % 3;
    pixels[(image * plane + i % plane) * 3 + colour] = planes[i];
  }
  return pixels;
}

Layout images_of(std::size_t height, std::size_t width, std::size_t stride) {
  return {Element::float32, 2 * 3 * height * width, 3, stride, height, width};
}

}  // namespace

TEST_CASE("a JPEG of every image crosses, of any size and in either order of memory, and loses what its quality says") {
  for (const auto& [height, width] :
       std::initializer_list<std::pair<std::size_t, std::size_t>>{{1, 1}, {7, 33}, {64, 48}}) {
    CAPTURE(height, width);
    const auto plane = height * width;
    const auto values = normalised(smooth_pixels(height, width), plane);
    const auto back = there_and_back("jpeg", images_of(height, width, plane), values);
    CHECK(largest_error(back, values) < 6 / 255.0 / 0.224);
    CHECK(there_and_back("jpeg", images_of(height, width, 1), channels_last(values, plane)) ==
          channels_last(back, plane));
  }
  const auto values = normalised(smooth_pixels(64, 48), 64 * 48);
  const auto bytes = std::as_bytes(std::span(values));
  const auto fine = encoded(parse("jpeg:100"), images_of(64, 48, 64 * 48), bytes);
  const auto usual = encoded(parse("jpeg"), images_of(64, 48, 64 * 48), bytes);
  const auto coarse = encoded(parse("jpeg:10"), images_of(64, 48, 64 * 48), bytes);
  CHECK(usual.size() < fine.size());
  CHECK(coarse.size() < usual.size());
  CHECK(fine.size() < values.size());
  // A length, and a file that any program reads.
  std::uint32_t first = 0, second = 0;
  std::memcpy(&first, usual.data(), sizeof(first));
  std::memcpy(&second, usual.data() + 4 + first, sizeof(second));
  CHECK(usual.size() == 4 + first + 4 + second);
  CHECK(usual[4] == std::byte{0xff});
  CHECK(usual[5] == std::byte{0xd8});
}

TEST_CASE("noise at the best quality has room, and what is coarser than the usual quality loses more of it") {
  std::mt19937 random(11);
  std::vector<float> pixels(2 * 3 * 64 * 64);
  for (auto& pixel : pixels) pixel = random() % 2 == 0 ? 0.0F : 255.0F;
  const auto values = normalised(pixels, 64 * 64);
  double last = 0;
  for (const char* name : {"jpeg:100", "jpeg", "jpeg:10"}) {
    CAPTURE(name);
    const auto back = there_and_back(name, images_of(64, 64, 64 * 64), values);
    double error = 0;
    for (std::size_t i = 0; i < values.size(); ++i) error += std::abs(back[i] - values[i]);
    CHECK(error > last);
    last = error;
  }
}

TEST_CASE("bodies that are not exactly as many JPEGs of the announced size are damaged, whatever they hold") {
  const auto layout = images_of(16, 24, 16 * 24);
  const auto values = normalised(smooth_pixels(16, 24), 16 * 24);
  const auto body = encoded(parse("jpeg"), layout, std::as_bytes(std::span(values)));
  std::vector<float> back(values.size());
  Scratch scratch;
  const auto reason = [&](const Layout& of, std::span<const std::byte> damaged) {
    return message_of<Damaged>(
        [&] { decode(parse("jpeg"), of, damaged, std::as_writable_bytes(std::span(back)), scratch); });
  };
  CHECK(contains(reason(layout, {}), "before the length of its next JPEG"));
  CHECK(contains(reason(layout, std::span(body).first(body.size() - 1)), "bytes of a JPEG"));
  CHECK(contains(reason(images_of(24, 16, 16 * 24), body), "a JPEG of 24 x 16 pixels instead of 16 x 24"));
  auto longer = body;
  longer.push_back(std::byte{});
  CHECK(contains(reason(layout, longer), "1 bytes behind the last JPEG"));
  CHECK(contains(reason({Element::float32, values.size(), 1, 1}, body), "no images"));
  auto huge = body;
  std::fill_n(huge.begin(), 4, std::byte{0xff});
  CHECK(contains(reason(layout, huge), "of 4294967295 bytes of a JPEG"));
  std::mt19937 random(12);
  for (int round = 0; round < 2000; ++round) {  // accepted or not, nothing else happens
    auto damaged = body;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
    try {
      decode(parse("jpeg"), layout, damaged, std::as_writable_bytes(std::span(back)), scratch);
    } catch (const Damaged&) {
    }
  }
}

TEST_CASE("what is no image is refused as one, with the value and its place") {
  const auto codec = parse("uint8");
  Scratch scratch;
  std::vector<std::byte> into(12);
  const auto reason = [&](const Layout& layout, const std::vector<float>& values) {
    return message_of<CannotEncode>([&] { encode(codec, layout, std::as_bytes(std::span(values)), into, scratch); });
  };
  for (const float value :
       {2.7F, -2.2F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> values(12, 0.0F);
    values[5] = value;
    CHECK(contains(reason(layout_of(12, 3, 2), values), "value 5 of 12"));
  }
  CHECK(contains(reason(layout_of(12, 4, 3), std::vector<float>(12, 0.0F)), "3 channels, and this tensor 4"));
  const std::vector<float> black(12, 0.0F);
  into.resize(1 << 20);
  const auto refused = message_of<CannotEncode>([&] {
    encode(parse("jpeg"), {Element::float32, 12, 3, 2, 2, 2}, std::as_bytes(std::span(black)), into, scratch);
  });
  CHECK(contains(refused, "no images of one size"));
}
