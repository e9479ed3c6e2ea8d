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

namespace paretopipe::weights {

enum class DType { float16, bfloat16, float32, float64, int8, uint8, int16, int32, int64, boolean };

std::size_t element_bytes(DType dtype);

/// "float32", as PyTorch calls it.
std::string_view to_string(DType dtype);

/// What a file says the bytes around a tensor add up to.
struct Checksum {
  std::span<const std::byte> bytes;  ///< of which the tensor's are a part
  std::uint32_t crc32 = 0;
};

/// A tensor where it lies in a file's bytes, which it refers to: element (i, j, …) of a tensor begins
/// (i strides[0] + j strides[1] + …) * element_bytes(dtype) bytes behind the first. Little-endian.
struct StoredTensor {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;    ///< nothing negative; empty for a single number
  std::vector<std::int64_t> strides;  ///< in elements, one a dimension, nothing negative
  /// From the first element to behind the last, none of them outside; empty if there is no element. Its distance from
  /// the beginning of the file is a multiple of the element's size.
  std::span<const std::byte> bytes;
  std::optional<Checksum> checksum;
};

using TensorMap = std::map<std::string, StoredTensor, std::less<>>;

/// The strides of a tensor without gaps, and its number of elements.
struct DenseLayout {
  std::vector<std::int64_t> strides;
  std::int64_t elements = 1;
};

/// Nothing for a shape with a negative dimension, or with so many elements that no memory could hold them.
std::optional<DenseLayout> dense_layout(std::span<const std::int64_t> shape);

/// Reads the bytes, a piece at a time, and says of each when it is through with it. Throws UsageError if they do not
/// have the checksum.
void verify(const Checksum& checksum, const std::function<void(std::span<const std::byte>)>& done_with = {});

/// The same, for a tensor that has one.
void verify(const StoredTensor& tensor);

}  // namespace paretopipe::weights
