#include <paretopipe/weights/pickled_tensor.hpp>
#include <paretopipe/weights/stored_tensor.hpp>

#include <fmt/ranges.h>

namespace paretopipe::weights {
namespace {

/// The end of a tensor behind its last element, counted from its first; 0 if it has no element. Nothing if the number
/// does not fit int64 or shape and strides are invalid.
std::optional<std::int64_t> extent(const PickleTensor& tensor) {
  if (tensor.shape.size() != tensor.strides.size() || !dense_layout(tensor.shape)) return std::nullopt;
  std::int64_t last = 0;
  bool empty = false;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 0) {
      empty = true;
      continue;
    }
    const auto step = checked_product(tensor.shape[i] - 1, tensor.strides[i]);
    const auto sum = step ? checked_sum(last, *step) : std::nullopt;
    if (!sum) return std::nullopt;
    last = *sum;
  }
  return empty ? 0 : checked_sum(last, 1);
}

}  // namespace

void check_storage(const PickleStorage& storage, const ZipEntry* entry) {
  if (entry == nullptr) throw UsageError(fmt::format("its storage {} is not in the archive", in_quotes(storage.key)));
  if (entry->file_bytes) throw UsageError(fmt::format("its storage {} is compressed", in_quotes(storage.key)));
  const auto claimed = checked_product(storage.elements, static_cast<std::int64_t>(element_bytes(storage.dtype)));
  if (!claimed || static_cast<std::uint64_t>(*claimed) != entry->bytes.size()) {
    throw UsageError(fmt::format("its storage is said to hold {} elements of {}, and has {} bytes", storage.elements,
                                 to_string(storage.dtype), entry->bytes.size()));
  }
}

Bytes locate(const PickleTensor& tensor, const ZipEntry* storage) {
  check_storage(tensor.storage, storage);
  const auto elements = extent(tensor);
  const auto end = elements && tensor.offset >= 0 ? checked_sum(tensor.offset, *elements) : std::nullopt;
  if (!end || *end > tensor.storage.elements) {
    throw UsageError(fmt::format("offset {}, shape [{}] and strides [{}] reach beyond its storage of {} elements",
                                 tensor.offset, fmt::join(tensor.shape, ", "), fmt::join(tensor.strides, ", "),
                                 tensor.storage.elements));
  }
  const auto size = element_bytes(tensor.storage.dtype);
  return storage->bytes.subspan(static_cast<std::size_t>(tensor.offset) * size,
                                static_cast<std::size_t>(*elements) * size);
}

}  // namespace paretopipe::weights
