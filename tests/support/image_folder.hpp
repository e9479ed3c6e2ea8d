#pragma once
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace paretopipe::support {

/// A folder for files of images, that is gone at the end of the test.
class ImageFolder {
 public:
  ImageFolder() {
    static std::atomic<int> counter = 0;
    const auto name = "paretopipe-images-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::create_directories(path_);
  }
  ~ImageFolder() { std::filesystem::remove_all(path_); }
  ImageFolder(const ImageFolder&) = delete;
  ImageFolder& operator=(const ImageFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// An IDX file of that header, with `pixels` bytes 0, 1, 2, … behind it.
inline std::vector<std::uint8_t> idx_file(const std::vector<std::uint32_t>& header, std::size_t pixels) {
  std::vector<std::uint8_t> bytes;
  for (const auto field : header) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(field >> shift));
  }
  for (std::size_t i = 0; i < pixels; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
  return bytes;
}

/// `count` records of CIFAR-10; image i has label i and all pixels 10 * i + channel.
inline std::vector<std::uint8_t> cifar10_file(int count) {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i));
    for (int channel = 0; channel < 3; ++channel)
      bytes.insert(bytes.end(), 32 * 32, static_cast<std::uint8_t>(10 * i + channel));
  }
  return bytes;
}

}  // namespace paretopipe::support
