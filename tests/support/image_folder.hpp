#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <support/files.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::support {

/// A folder for files of images, that is gone at the end of the test.
class ImageFolder : public TemporaryFolder {
 public:
  std::filesystem::path write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    write_file(path() / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return path() / name;
  }
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
