#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace paretopipe::compute {

/// Decoded images of one size.
struct Images {
  std::int64_t count = 0;
  std::int64_t channels = 0;  ///< 1 (grey) or 3 (red, green, blue)
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;  ///< count x channels x height x width
  std::vector<std::uint8_t> labels;  ///< one per image, if the same file holds them
};

// All of these read and check the whole file. They compare the header's claims with what the file can hold before they
// allocate memory. They throw EnvironmentError, naming the file and the reason, if the file cannot be read, is
// truncated, too long or damaged.

/// Images in the IDX format of MNIST (http://yann.lecun.com/exdb/mnist): magic 0x00000803, then count, rows and columns
/// as big-endian 32-bit integers, then the pixels. Plain or gzip.
Images read_idx_images(const std::filesystem::path& path);

/// Labels in the same format: magic 0x00000801, then the count, then one byte per label.
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& path);

/// CIFAR-10, "binary version" (https://www.cs.toronto.edu/~kriz/cifar.html): records of one label byte (0 … 9) and
/// 3 x 32 x 32 pixels. Plain or gzip.
Images read_cifar10_images(const std::filesystem::path& path);

}  // namespace paretopipe::compute
