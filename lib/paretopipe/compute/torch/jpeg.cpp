#include <paretopipe/compute/torch/decode_image.hpp>
#include <paretopipe/core/error.hpp>

#include <array>
#include <csetjmp>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

namespace paretopipe::compute {

namespace {

/// Progressive images have about ten scans. Each costs a pass over the whole image but few bytes of the file.
constexpr int kMostScans = 100;

/// The state of libjpeg, which leaves an error by longjmp over all frames in between. These frames may hold no object
/// with a destructor, and those below hold none.
struct Decoder {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape{};
  std::array<char, JMSG_LENGTH_MAX> reason{};
};

[[noreturn]] void leave(j_common_ptr jpeg) {
  auto* decoder = static_cast<Decoder*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, decoder->reason.data());
  std::longjmp(decoder->escape, 1);
}

/// libjpeg tolerates damage and fills what is missing with grey, which is no image to measure with: this is an error
/// here. Extra bytes between the parts of a file, which some cameras leave, change nothing and are accepted.
void judge_message(j_common_ptr jpeg, int level) {
  if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) leave(jpeg);
}

void limit_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
  auto* decoder = static_cast<Decoder*>(jpeg->client_data);
  std::snprintf(decoder->reason.data(), decoder->reason.size(), "more than %d scans", kMostScans);
  std::longjmp(decoder->escape, 1);
}

/// Returns false, with a reason, if that fails.
bool read_header(Decoder& decoder, std::span<const std::byte> file) {
  if (setjmp(decoder.escape) != 0) return false;
  jpeg_create_decompress(&decoder.jpeg);
  decoder.jpeg.client_data = &decoder;
  decoder.jpeg.progress = &decoder.progress;
  jpeg_mem_src(&decoder.jpeg, reinterpret_cast<const unsigned char*>(file.data()),
               static_cast<unsigned long>(file.size()));
  jpeg_read_header(&decoder.jpeg, TRUE);
  return true;
}

/// Returns false, with a reason, if that fails.
bool read_pixels(Decoder& decoder, std::uint8_t* pixels) {
  if (setjmp(decoder.escape) != 0) return false;
  decoder.jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&decoder.jpeg);
  while (decoder.jpeg.output_scanline < decoder.jpeg.output_height) {
    JSAMPROW row = pixels + std::size_t{decoder.jpeg.output_scanline} * decoder.jpeg.output_width * 3;
    jpeg_read_scanlines(&decoder.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&decoder.jpeg);
  return true;
}

class Jpeg {
 public:
  Jpeg() {
    decoder_.jpeg.err = jpeg_std_error(&decoder_.errors);
    decoder_.jpeg.client_data = &decoder_;
    decoder_.errors.error_exit = leave;
    decoder_.errors.emit_message = judge_message;
    decoder_.progress.progress_monitor = limit_scans;
  }
  ~Jpeg() { jpeg_destroy_decompress(&decoder_.jpeg); }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

  DecodedImage decode(std::span<const std::byte> file) {
    if (!read_header(decoder_, file)) refuse();
    const auto space = decoder_.jpeg.jpeg_color_space;
    if (space == JCS_CMYK || space == JCS_YCCK) {
      throw UsageError("its colours are four inks (CMYK); convert it to RGB, with the profile that it was made for");
    }
    auto image = make_image(decoder_.jpeg.image_width, decoder_.jpeg.image_height);
    if (!read_pixels(decoder_, image.pixels.data())) refuse();
    return image;
  }

 private:
  [[noreturn]] void refuse() {
    throw UsageError(
        fmt::format("truncated, damaged or of a kind that libjpeg cannot decode ({})", decoder_.reason.data()));
  }

  Decoder decoder_;
};

}  // namespace

DecodedImage decode_jpeg(std::span<const std::byte> file) {
  return Jpeg().decode(file);
}

}  // namespace paretopipe::compute
