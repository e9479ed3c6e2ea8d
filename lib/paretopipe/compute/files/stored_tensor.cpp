#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/stored_tensor.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <array>

#include <zlib.h>

namespace paretopipe::files {

namespace {

struct DTypeTraits {
  std::string_view name;
  std::size_t bytes;
};

/// In the order of DType.
constexpr std::array<DTypeTraits, 10> kDTypeTraits{{{"float16", 2},
                                                    {"bfloat16", 2},
                                                    {"float32", 4},
                                                    {"float64", 8},
                                                    {"int8", 1},
                                                    {"uint8", 1},
                                                    {"int16", 2},
                                                    {"int32", 4},
                                                    {"int64", 8},
                                                    {"bool", 1}}};

}  // namespace

std::size_t element_bytes(DType dtype) {
  return kDTypeTraits.at(static_cast<std::size_t>(dtype)).bytes;
}

std::string_view to_string(DType dtype) {
  return kDTypeTraits.at(static_cast<std::size_t>(dtype)).name;
}

std::optional<DenseLayout> dense_layout(std::span<const std::int64_t> shape) {
  DenseLayout layout{std::vector<std::int64_t>(shape.size()), 1};
  for (std::size_t i = shape.size(); i-- > 0;) {
    layout.strides[i] = layout.elements;
    const auto elements = checked_product(layout.elements, shape[i]);
    if (!elements) return std::nullopt;
    layout.elements = *elements;
  }
  return layout;
}

void verify(const Checksum& checksum, const std::function<void(Bytes)>& done_with) {
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  auto found = ::crc32_z(0, nullptr, 0);
  for (auto rest = checksum.bytes; !rest.empty();) {
    const auto piece = rest.first(std::min(kPiece, rest.size()));
    found = ::crc32_z(found, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    if (done_with) done_with(piece);
    rest = rest.subspan(piece.size());
  }
  if (found == checksum.crc32) return;
  throw UsageError(
      fmt::format("damaged: its bytes have the CRC-32 {:08x}, and the archive says {:08x}", found, checksum.crc32));
}

void verify(const StoredTensor& tensor) {
  if (tensor.checksum) verify(*tensor.checksum);
}

}  // namespace paretopipe::files
