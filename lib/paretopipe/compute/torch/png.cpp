#include <paretopipe/compute/torch/decode_image.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>

#include <png.h>

namespace paretopipe::compute {

namespace {

/// The state of libpng, which leaves an error by longjmp over all frames in between. These frames may hold no object
/// with a destructor, and the functions below have none.
struct Decoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const std::byte> rest;  ///< of the file, not read yet
  std::array<char, 200> reason{};
};

[[noreturn]] void leave(png_structp png, png_const_charp reason) {
  auto* decoder = static_cast<Decoder*>(png_get_error_ptr(png));
  std::strncpy(decoder->reason.data(), reason, decoder->reason.size() - 1);
  png_longjmp(png, 1);
}

/// Ignores warnings, which concern optional parts: text, colour profiles.
void ignore(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep into, std::size_t count) {
  auto& rest = static_cast<Decoder*>(png_get_io_ptr(png))->rest;
  if (count > rest.size()) png_error(png, "the file ends too early");
  std::memcpy(into, rest.data(), count);
  rest = rest.subspan(count);
}

/// Returns false, with a reason, if that fails.
bool read_header(Decoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_set_read_fn(decoder.png, &decoder, read_bytes);
  png_set_user_limits(decoder.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // make_image enforces the limit
  png_read_info(decoder.png, decoder.info);
  return true;
}

/// Converts any kind of pixels to 8 bits of red, green and blue. Returns false, with a reason, if that fails.
bool read_pixels(Decoder& decoder, std::uint8_t* pixels) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_set_expand(decoder.png);
  png_set_scale_16(decoder.png);
  png_set_gray_to_rgb(decoder.png);
  png_set_strip_alpha(decoder.png);
  const int passes = png_set_interlace_handling(decoder.png);
  png_read_update_info(decoder.png, decoder.info);
  const auto row_bytes = png_get_rowbytes(decoder.png, decoder.info);
  const auto rows = png_get_image_height(decoder.png, decoder.info);
  if (row_bytes != std::size_t{png_get_image_width(decoder.png, decoder.info)} * 3) {
    png_error(decoder.png, "its pixels do not become red, green and blue");
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 row = 0; row < rows; ++row) png_read_row(decoder.png, pixels + row * row_bytes, nullptr);
  }
  png_read_end(decoder.png, nullptr);
  return true;
}

class Png {
 public:
  explicit Png(std::span<const std::byte> file) {
    decoder_.rest = file;
    decoder_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder_, leave, ignore);
    if (decoder_.png != nullptr) decoder_.info = png_create_info_struct(decoder_.png);
    if (decoder_.info == nullptr) {
      png_destroy_read_struct(&decoder_.png, &decoder_.info, nullptr);
      throw EnvironmentError("decode a PNG image: libpng cannot be set up (out of memory, or another version)");
    }
  }
  ~Png() { png_destroy_read_struct(&decoder_.png, &decoder_.info, nullptr); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  DecodedImage decode() {
    if (!read_header(decoder_)) refuse();
    auto image =
        make_image(png_get_image_width(decoder_.png, decoder_.info), png_get_image_height(decoder_.png, decoder_.info));
    if (!read_pixels(decoder_, image.pixels.data())) refuse();
    return image;
  }

 private:
  [[noreturn]] void refuse() { throw UsageError(fmt::format("truncated or damaged ({})", decoder_.reason.data())); }

  Decoder decoder_;
};

}  // namespace

DecodedImage decode_png(std::span<const std::byte> file) {
  return Png(file).decode();
}

}  // namespace paretopipe::compute
