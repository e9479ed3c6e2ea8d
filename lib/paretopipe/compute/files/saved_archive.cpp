#include <paretopipe/compute/files/saved_archive.hpp>
#include <paretopipe/core/error.hpp>

#include <fmt/ranges.h>

namespace paretopipe::files {

namespace {

/// About 300 bytes per tensor: enough for two hundred thousand.
constexpr std::size_t kLongestPickle = std::size_t{64} << 20;

constexpr std::string_view kPickleName = "/data.pkl";

/// The number of elements from a tensor's first to its last, with what lies in between; 0 if it has no element. Nothing
/// if the number does not fit int64 or shape and strides are invalid.
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

/// Throws UsageError for a storage that is missing (null), compressed, or of another size than in the pickle.
void check_storage(const PickleStorage& storage, const ZipEntry* entry) {
  if (entry == nullptr) throw UsageError(fmt::format("its storage {} is not in the archive", in_quotes(storage.key)));
  if (entry->file_bytes) throw UsageError(fmt::format("its storage {} is compressed", in_quotes(storage.key)));
  const auto claimed = checked_product(storage.elements, static_cast<std::int64_t>(element_bytes(storage.dtype)));
  if (!claimed || static_cast<std::uint64_t>(*claimed) != entry->bytes.size()) {
    throw UsageError(fmt::format("its storage is said to hold {} elements of {}, and has {} bytes", storage.elements,
                                 to_string(storage.dtype), entry->bytes.size()));
  }
}

/// The bytes of a pickled tensor, from its first element to the end of its last; empty if it has no element. `storage`
/// is the archive's entry with the name of the tensor's storage, or null if there is none. Throws UsageError as
/// check_storage does, and for a tensor that reaches beyond its storage.
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

}  // namespace

std::vector<ArchiveStorage> check_archive_pickle(Bytes pickle, const StorageFinder& find) {
  std::vector<ArchiveStorage> storages;
  PickleMachine machine(pickle, PickleDialect::archive);
  machine.run();
  for (const auto& value : machine.values()) {
    if (const auto* tensor = value.get<PickleTensor>()) locate(*tensor, find(tensor->storage.key));
    // LibTorch treats a storage as a tensor of its own, whether or not one is made of it.
    const auto* storage = value.get<PickleStorage>();
    if (storage == nullptr) continue;
    const auto* entry = find(storage->key);
    check_storage(*storage, entry);
    storages.push_back({storage->key, entry});
  }
  return storages;
}

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
    throw UsageError(fmt::format(
        "its storage begins at {} of the file, which is not a multiple of the {} of an element", offset, size));
  }
  return {pickled.storage.dtype, pickled.shape, pickled.strides, bytes, Checksum{entry->bytes, entry->crc32}};
}

const ZipEntry* SavedArchive::find(std::string_view name) const {
  const auto found = entries_.find(fmt::format("{}/{}", folder_, name));
  return found == entries_.end() ? nullptr : &found->second;
}

namespace {

constexpr std::string_view kHowToSave = "save the weights alone: torch.save(model.state_dict(), FILE)";

/// Adds one entry of the dictionary.
void add(TensorMap& tensors, const PickleValue& key, const PickleValue& value, const SavedArchive& archive) {
  const auto* name = key.get<std::string_view>();
  if (name == nullptr) throw UsageError(fmt::format("a tensor's name is {}; {}", kind_of(key), kHowToSave));
  const auto* tensor = value.get<PickleTensor>();
  if (tensor == nullptr) {
    throw UsageError(fmt::format("its {} is {}, not a tensor; {}", in_quotes(*name), kind_of(value), kHowToSave));
  }
  const auto stored =
      with_prefix(fmt::format("tensor {}: ", in_quotes(*name)), [&] { return archive.tensor_of(*tensor); });
  if (tensors.emplace(*name, stored).second) return;
  throw UsageError(fmt::format("tensor {} stands twice in it", in_quotes(*name)));
}

}  // namespace

TensorMap read_state_dict(Bytes file) {
  const SavedArchive archive(file, kHowToSave);
  PickleMachine machine(archive.pickle());
  const auto& result = machine.run();
  const auto* dictionary = result.get<PickleDict>();
  if (dictionary == nullptr)
    throw UsageError(fmt::format("it holds {}, not a state_dict; {}", kind_of(result), kHowToSave));
  TensorMap tensors;
  for (const auto& [key, value] : dictionary->entries) add(tensors, *key, *value, archive);
  return tensors;
}

}  // namespace paretopipe::files
