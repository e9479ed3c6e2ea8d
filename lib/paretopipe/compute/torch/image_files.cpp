#include <paretopipe/compute/torch/image_files.hpp>
#include <paretopipe/core/error.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <zlib.h>

namespace paretopipe::compute {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason) {
  throw EnvironmentError(fmt::format("read images from {}: {}", path.string(), reason));
}

/// Reads plain and gzip files alike.
class ByteFile {
 public:
  explicit ByteFile(const std::filesystem::path& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (file_ == nullptr) throw system_error(fmt::format("open {}", path.string()), errno);
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    if (error) fail(path, error.message());
  }

  /// Upper bound of the file's uncompressed size: deflate compresses at most 1032-fold (zlib's technical details).
  std::uint64_t max_content() const { return size_ * 1032; }

  /// Fills `bytes`, or fewer if the file ends earlier. Returns how many.
  std::size_t read(std::span<std::uint8_t> bytes) {
    std::size_t filled = 0;
    while (filled < bytes.size()) {
      constexpr std::size_t kMost = 1 << 24;
      const auto wanted = static_cast<unsigned>(std::min(bytes.size() - filled, kMost));
      const int got = gzread(file_.get(), bytes.data() + filled, wanted);
      if (got > 0) filled += static_cast<std::size_t>(got);
      if (got < static_cast<int>(wanted)) {
        check_stream();
        break;
      }
    }
    return filled;
  }

  void read_all(std::span<std::uint8_t> bytes, const char* what) {
    const auto got = read(bytes);
    if (got < bytes.size()) {
      fail(path_, fmt::format("truncated: {} of {} bytes of {} are there", got, bytes.size(), what));
    }
  }

  /// Also makes zlib compare the checksum at the end of a gzip file.
  void expect_end() {
    std::array<std::uint8_t, 1> extra{};
    if (read(extra) != 0) fail(path_, "damaged: more data than its header announces");
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose_r(file); }
  };

  void check_stream() {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) throw system_error(fmt::format("read {}", path_.string()), errno);
    if (code == Z_BUF_ERROR) fail(path_, "truncated: the compressed data end too early");
    if (code != Z_OK && code != Z_STREAM_END) fail(path_, fmt::format("damaged: {}", text));
  }

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::uint64_t size_ = 0;
};

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

constexpr std::uint64_t kMostImages = 10'000'000;
constexpr std::uint64_t kLongestSide = 4096;

}  // namespace

Images read_idx_images(const std::filesystem::path& path) {
  ByteFile file(path);
  std::array<std::uint8_t, 16> header{};
  file.read_all(header, "header");
  const auto field = [&](std::size_t i) { return big_endian(std::span(header).subspan(4 * i).first<4>()); };
  if (field(0) != 0x00000803) fail(path, fmt::format("not an IDX file of images: magic number 0x{:08x}", field(0)));
  const std::uint64_t count = field(1);
  const std::uint64_t rows = field(2);
  const std::uint64_t columns = field(3);
  const auto claim = fmt::format("{} images of {} x {} pixels", count, rows, columns);
  const bool sane = count >= 1 && count <= kMostImages && rows >= 1 && rows <= kLongestSide && columns >= 1 &&
                    columns <= kLongestSide;
  if (!sane) fail(path, fmt::format("damaged: its header claims {}", claim));
  const std::uint64_t bytes = count * rows * columns;  // at most 1.7e14: no overflow
  if (bytes > file.max_content()) fail(path, fmt::format("damaged: it is too small for the {} of its header", claim));
  Images images{static_cast<std::int64_t>(count), 1,
                static_cast<std::int64_t>(rows),  static_cast<std::int64_t>(columns),
                std::vector<std::uint8_t>(bytes), {}};
  file.read_all(images.pixels, "pixels");
  file.expect_end();
  return images;
}

std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& path) {
  ByteFile file(path);
  std::array<std::uint8_t, 8> header{};
  file.read_all(header, "header");
  const auto magic = big_endian(std::span(header).first<4>());
  const std::uint64_t count = big_endian(std::span(header).last<4>());
  if (magic != 0x00000801) fail(path, fmt::format("not an IDX file of labels: magic number 0x{:08x}", magic));
  if (count < 1 || count > kMostImages || count > file.max_content()) {
    fail(path, fmt::format("damaged: its header claims {} labels", count));
  }
  std::vector<std::uint8_t> labels(count);
  file.read_all(labels, "labels");
  file.expect_end();
  return labels;
}

Images read_cifar10_images(const std::filesystem::path& path) {
  ByteFile file(path);
  Images images{0, 3, 32, 32, {}, {}};
  std::array<std::uint8_t, 1 + 3 * 32 * 32> record{};
  while (const auto got = file.read(record)) {
    if (got < record.size()) {
      fail(path, fmt::format("truncated: {} of the {} bytes of image {} are there", got, record.size(), images.count));
    }
    if (record[0] > 9)
      fail(path, fmt::format("damaged: image {} has the label {}, of 0 to 9", images.count, record[0]));
    images.labels.push_back(record[0]);
    images.pixels.insert(images.pixels.end(), record.begin() + 1, record.end());
    ++images.count;
  }
  if (images.count == 0) fail(path, "truncated: it is empty");
  return images;
}

}  // namespace paretopipe::compute
