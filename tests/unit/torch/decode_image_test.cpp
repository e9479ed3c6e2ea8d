#include <paretopipe/compute/torch/decode_image.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <string>

#include <zlib.h>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::compute {
namespace {

using support::contains;

const std::filesystem::path kGolden = PARETOPIPE_SOURCE_DIR "/tests/golden/images";

std::string golden(const char* name) {
  return support::read_file(kGolden / name);
}

DecodedImage decode(const std::string& bytes) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "image.png";
  support::write_file(file, bytes);
  return decode_image(file);
}

std::string refusal(const std::string& bytes) {
  return support::message_of<UsageError>([&] { decode(bytes); });
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

/// A PNG of which the header claims that size, with the checksum that this header has.
std::string png_claiming(std::uint32_t width, std::uint32_t height) {
  auto png = golden("g_small.png");
  png.replace(16, 8, big_endian(width) + big_endian(height));
  const auto checksum = ::crc32(0, reinterpret_cast<const Bytef*>(png.data()) + 12, 17);
  return png.replace(29, 4, big_endian(static_cast<std::uint32_t>(checksum)));
}

/// A JPEG of which the header claims that size.
std::string jpeg_claiming(std::uint16_t width, std::uint16_t height) {
  auto jpeg = golden("a_colour.jpg");
  const auto frame = jpeg.find("\xff\xc0");
  REQUIRE(frame != jpeg.npos);
  return jpeg.replace(frame + 5, 4, big_endian(std::uint32_t{height} << 16 | width));
}

TEST_CASE("images of every kind become three channels of 8 bits, whatever their names say") {
  const auto name = GENERATE(as<std::string>(), "a_colour.jpg", "b_progressive.JPEG", "c_grey.jpg", "d_alpha.png",
                             "e_palette.png", "f_grey_16_bit.png", "g_small.png", "h_one_bit.png");
  CAPTURE(name);
  const auto image = decode(golden(name.c_str()));
  CHECK(image.pixels.size() == static_cast<std::size_t>(image.height * image.width * 3));
  CHECK(std::ranges::max(image.pixels) > 200);
  CHECK(std::ranges::min(image.pixels) < 60);
  if (name != "c_grey.jpg" && name != "f_grey_16_bit.png" && name != "h_one_bit.png") return;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    REQUIRE((image.pixels[i] == image.pixels[i + 1] && image.pixels[i] == image.pixels[i + 2]));
  }
}

TEST_CASE("a huge size is refused by the header, before memory is allocated for it") {
  for (const auto& file : {png_claiming(60'000, 60'000), png_claiming(0x7fffffff, 0x7fffffff),
                           png_claiming(1, 50'000'001), jpeg_claiming(65'000, 65'000)}) {
    CHECK(contains(refusal(file), "its header claims"));
  }
  CHECK(refusal(png_claiming(0, 10)) != "(nothing was thrown)");
  CHECK(refusal(jpeg_claiming(0, 10)) != "(nothing was thrown)");
  // As large as may be, and nothing there: decoded until the file ends.
  CHECK(contains(refusal(png_claiming(5'000, 5'000)), "truncated or damaged"));
  CHECK(contains(refusal(jpeg_claiming(5'000, 5'000)), "truncated, damaged"));
}

TEST_CASE("every prefix of an image is refused, never shown with a grey rest") {
  for (const auto* name : {"a_colour.jpg", "b_progressive.JPEG", "d_alpha.png", "e_palette.png"}) {
    CAPTURE(name);
    const auto whole = golden(name);
    for (std::size_t length = 0; length < whole.size() - 2; ++length) {
      INFO("the first " << length << " bytes");
      CHECK(contains(refusal(whole.substr(0, length)), "image.png: "));
    }
  }
}

TEST_CASE("an image with a damaged byte is refused or decoded, and nothing worse") {
  for (const auto* name : {"a_colour.jpg", "b_progressive.JPEG", "c_grey.jpg", "d_alpha.png", "e_palette.png",
                           "f_grey_16_bit.png", "refused/cmyk.jpg"}) {
    const auto whole = golden(name);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      auto damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      try {
        const auto image = decode(damaged);
        CHECK(image.pixels.size() == static_cast<std::size_t>(image.height * image.width * 3));
      } catch (const UsageError&) {
      }
    }
  }
}

TEST_CASE("a JPEG of ever more scans is given up") {
  const auto jpeg = golden("b_progressive.JPEG");
  const auto last_scan = jpeg.rfind("\xff\xda");
  const auto scan = jpeg.substr(last_scan, jpeg.size() - 2 - last_scan);
  auto endless = jpeg.substr(0, jpeg.size() - 2);
  for (int i = 0; i < 1000; ++i) endless += scan;
  CHECK(contains(refusal(endless + "\xff\xd9"), "truncated, damaged or of a kind"));
}

TEST_CASE("what is no image, or has no red, is refused with the file's name and what to do") {
  CHECK(
      contains(refusal(golden("refused/cmyk.jpg")), "image.png: its colours are four inks (CMYK); convert it to RGB"));
  CHECK(contains(refusal("GIF89a"), "neither a JPEG nor a PNG"));
  CHECK(contains(refusal(""), "image.png: it is empty"));
  CHECK(contains(support::message_of<UsageError>([] { decode_image("/nowhere/a.png"); }), "/nowhere/a.png"));
}

}  // namespace
}  // namespace paretopipe::compute
