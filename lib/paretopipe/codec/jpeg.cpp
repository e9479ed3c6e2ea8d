#include <paretopipe/codec/codec.hpp>
#include <paretopipe/codec/jpeg.hpp>

#include <array>
#include <csetjmp>
#include <cstdio>

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

namespace paretopipe::codec {

namespace {

/// Progressive images have about ten scans. Each costs a pass over the whole image but few bytes of the file.
constexpr int kMostScans = 100;

/// How libjpeg leaves with an error: by longjmp over all frames in between. These frames may hold no object with a
/// destructor, and the functions below have none.
struct Escape {
  jpeg_error_mgr errors{};
  std::jmp_buf to{};
  std::array<char, JMSG_LENGTH_MAX> reason{};
};

[[noreturn]] void leave(j_common_ptr jpeg) {
  auto* escape = static_cast<Escape*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, escape->reason.data());
  std::longjmp(escape->to, 1);
}

/// libjpeg tolerates damage and fills what is missing with grey. Nothing can be measured with such an image, so damage
/// is an error here. Extra bytes between the parts of a file, which some cameras leave, change nothing and are
/// accepted.
void judge_message(j_common_ptr jpeg, int level) {
  if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) leave(jpeg);
}

void limit_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
  auto* escape = static_cast<Escape*>(jpeg->client_data);
  std::snprintf(escape->reason.data(), escape->reason.size(), "more than %d scans", kMostScans);
  std::longjmp(escape->to, 1);
}

void prepare(Escape& escape, jpeg_error_mgr*& errors, void*& client_data) {
  errors = jpeg_std_error(&escape.errors);
  client_data = &escape;
  escape.errors.error_exit = leave;
  escape.errors.emit_message = judge_message;
}

class Reader {
 public:
  Reader() {
    prepare(escape_, jpeg_.err, jpeg_.client_data);
    progress_.progress_monitor = limit_scans;
  }
  ~Reader() { jpeg_destroy_decompress(&jpeg_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void read(std::span<const std::byte> jpeg, const PixelMemory& memory) {
    if (!read_header(jpeg)) refuse();
    if (jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK) {
      throw Damaged("its colours are four inks (CMYK); convert it to RGB, with the profile that it was made for");
    }
    if (!read_pixels(memory(jpeg_.image_width, jpeg_.image_height))) refuse();
  }

 private:
  /// Returns false, with a reason, if that fails.
  bool read_header(std::span<const std::byte> jpeg) {
    if (setjmp(escape_.to) != 0) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(jpeg.data()), static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(&jpeg_, TRUE);
    return true;
  }

  bool read_pixels(std::uint8_t* pixels) {
    if (setjmp(escape_.to) != 0) return false;
    jpeg_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg_);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = pixels + std::size_t{jpeg_.output_scanline} * jpeg_.output_width * 3;
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  [[noreturn]] void refuse() {
    throw Damaged(
        fmt::format("truncated, damaged or of a kind that libjpeg cannot decode ({})", escape_.reason.data()));
  }

  jpeg_decompress_struct jpeg_{};
  jpeg_progress_mgr progress_{};
  Escape escape_{};
};

boolean refuse_more(j_compress_ptr jpeg) {
  ERREXIT(jpeg, JERR_BUFFER_SIZE);
  return FALSE;
}

class Writer {
 public:
  Writer() {
    prepare(escape_, jpeg_.err, jpeg_.client_data);
    destination_.init_destination = [](j_compress_ptr) {};
    destination_.empty_output_buffer = refuse_more;
    destination_.term_destination = [](j_compress_ptr) {};
  }
  ~Writer() { jpeg_destroy_compress(&jpeg_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::size_t write(const std::uint8_t* pixels, std::size_t width, std::size_t height, int quality,
                    std::span<std::byte> into) {
    destination_.next_output_byte = reinterpret_cast<JOCTET*>(into.data());
    destination_.free_in_buffer = into.size();
    if (!write_rows(pixels, static_cast<JDIMENSION>(width), static_cast<JDIMENSION>(height), quality)) {
      throw CannotEncode(fmt::format("libjpeg cannot encode {} x {} pixels in {} bytes ({})", width, height,
                                     into.size(), escape_.reason.data()));
    }
    return into.size() - destination_.free_in_buffer;
  }

 private:
  /// Returns false, with a reason, if that fails.
  bool write_rows(const std::uint8_t* pixels, JDIMENSION width, JDIMENSION height, int quality) {
    if (setjmp(escape_.to) != 0) return false;
    jpeg_create_compress(&jpeg_);
    jpeg_.dest = &destination_;
    jpeg_.image_width = width;
    jpeg_.image_height = height;
    jpeg_.input_components = 3;
    jpeg_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg_);
    jpeg_set_quality(&jpeg_, quality, TRUE);
    jpeg_start_compress(&jpeg_, TRUE);
    while (jpeg_.next_scanline < height) {
      auto* row = const_cast<JSAMPROW>(pixels + std::size_t{jpeg_.next_scanline} * width * 3);  // libjpeg only reads it
      jpeg_write_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_compress(&jpeg_);
    return true;
  }

  jpeg_compress_struct jpeg_{};
  jpeg_destination_mgr destination_{};
  Escape escape_{};
};

std::size_t padded(std::size_t pixels) {
  return (pixels + 15) / 16 * 16;
}

}  // namespace

void read_jpeg(std::span<const std::byte> jpeg, const PixelMemory& memory) {
  Reader().read(jpeg, memory);
}

std::size_t most_jpeg_bytes(std::size_t width, std::size_t height) {
  return 3 * padded(width) * padded(height) + 2048;
}

std::size_t write_jpeg(std::span<const std::uint8_t> pixels, std::size_t width, std::size_t height, int quality,
                       std::span<std::byte> into) {
  return Writer().write(pixels.data(), width, height, quality, into);
}

}  // namespace paretopipe::codec
