#include <paretopipe/core/error.hpp>
#include <paretopipe/weights/pickled_tensor.hpp>
#include <paretopipe/weights/saved_archive.hpp>

namespace paretopipe::weights {
namespace {

/// About 300 bytes per tensor: enough for two hundred thousand.
constexpr std::size_t kLongestPickle = std::size_t{64} << 20;

constexpr std::string_view kPickleName = "/data.pkl";

}  // namespace

SavedArchive::SavedArchive(Bytes file, std::string_view how_to_save) : file_(file), entries_(read_entries(file)) {
  for (const auto& [name, entry] : entries_) {
    if (!name.ends_with(kPickleName)) continue;
    if (!folder_.empty()) throw UsageError("it holds two pickles, where a state_dict has one");
    folder_ = name.substr(0, name.size() - kPickleName.size());
  }
  if (folder_.empty()) throw UsageError("it is a zip archive without a pickle (data.pkl), hence no state_dict");
  // Checked first: a model's code is compressed, and the person mistook the model for its weights.
  if (find("constants.pkl") != nullptr) {
    throw UsageError(fmt::format("it is a TorchScript archive, a whole model; {}", how_to_save));
  }
  require_stored(entries_);
  const auto* order = find("byteorder");
  if (order != nullptr && text_of(order->bytes) != "little")
    throw UsageError("its bytes are not in little-endian order");
}

Bytes SavedArchive::pickle() const {
  const auto& entry = *find(kPickleName.substr(1));
  if (entry.bytes.size() > kLongestPickle) {
    throw UsageError(fmt::format("its pickle of {} bytes is longer than that of any state_dict", entry.bytes.size()));
  }
  verify(Checksum{entry.bytes, entry.crc32});
  return entry.bytes;
}

StoredTensor SavedArchive::tensor_of(const PickleTensor& pickled) const {
  const auto* entry = find(fmt::format("data/{}", pickled.storage.key));
  const auto bytes = locate(pickled, entry);
  const auto size = element_bytes(pickled.storage.dtype);
  const auto offset = static_cast<std::size_t>(entry->bytes.data() - file_.data());
  if (offset % size != 0) {
    throw UsageError(fmt::format("its storage begins at {} of the file, which is no multiple of the {} of an element",
                                 offset, size));
  }
  return {pickled.storage.dtype, pickled.shape, pickled.strides, bytes, Checksum{entry->bytes, entry->crc32}};
}

const ZipEntry* SavedArchive::find(std::string_view name) const {
  const auto found = entries_.find(fmt::format("{}/{}", folder_, name));
  return found == entries_.end() ? nullptr : &found->second;
}

}  // namespace paretopipe::weights
