#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::files {

enum class DType { float16, bfloat16, float32, float64, int8, uint8, int16, int32, int64, boolean };

std::size_t element_bytes(DType dtype);

/// "float32", as PyTorch calls it.
std::string_view to_string(DType dtype);

/// A checksum from the file, over bytes that include a tensor's.
struct Checksum {
  std::span<const std::byte> bytes;  ///< including the tensor's
  std::uint32_t crc32 = 0;
};

/// A tensor at its place in a file's bytes, which it refers to: element (i, j, …) begins (i strides[0] + j strides[1] +
/// …) * element_bytes(dtype) bytes after the first. Little-endian.
struct StoredTensor {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;    ///< never negative; empty for a single number
  std::vector<std::int64_t> strides;  ///< in elements, one per dimension, never negative
  /// The bytes from the first element to the end of the last; all elements are inside. Empty if there is no element.
  /// Its distance from the beginning of the file is a multiple of the element's size.
  std::span<const std::byte> bytes;
  std::optional<Checksum> checksum;
};

using TensorMap = std::map<std::string, StoredTensor, std::less<>>;

/// The strides of a tensor without gaps, and its number of elements.
struct DenseLayout {
  std::vector<std::int64_t> strides;
  std::int64_t elements = 1;
};

/// Nothing for a shape with a negative dimension, or with too many elements for any memory.
std::optional<DenseLayout> dense_layout(std::span<const std::int64_t> shape);

/// Reads the bytes piece by piece and reports each finished piece. Throws UsageError if the checksum differs.
void verify(const Checksum& checksum, const std::function<void(std::span<const std::byte>)>& done_with = {});

/// Does so for a tensor that has a checksum; does nothing for others.
void verify(const StoredTensor& tensor);

}  // namespace paretopipe::files
