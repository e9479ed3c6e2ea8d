#include <paretopipe/weights/pickle_machine.hpp>
#include <paretopipe/weights/pickled_tensor.hpp>
#include <paretopipe/weights/state_dict.hpp>
#include <paretopipe/weights/zip_archive.hpp>

namespace paretopipe::weights {
namespace {

/// Some 300 bytes a tensor: enough for two hundred thousand.
constexpr std::size_t kLongestPickle = std::size_t{64} << 20;

constexpr std::string_view kPickleName = "/data.pkl";

constexpr std::string_view kHowToSave = "save the weights alone: torch.save(model.state_dict(), FILE)";

/// The entries of a state_dict's archive, which all lie in one folder of any name.
class Archive {
 public:
  explicit Archive(Bytes file) : file_(file), entries_(read_stored_entries(file)) {
    for (const auto& [name, entry] : entries_) {
      if (!name.ends_with(kPickleName)) continue;
      if (!folder_.empty()) throw UsageError("it holds two pickles, where a state_dict has one");
      folder_ = name.substr(0, name.size() - kPickleName.size());
    }
    if (folder_.empty()) throw UsageError("it is a zip archive without a pickle (data.pkl), hence no state_dict");
    if (find("constants.pkl") != nullptr) {
      throw UsageError(fmt::format("it is a TorchScript archive, a whole model; {}", kHowToSave));
    }
    const auto* order = find("byteorder");
    if (order != nullptr && text_of(order->bytes) != "little")
      throw UsageError("its bytes are not in little-endian order");
  }

  Bytes pickle() const {
    const auto& entry = *find(kPickleName.substr(1));
    if (entry.bytes.size() > kLongestPickle) {
      throw UsageError(fmt::format("its pickle of {} bytes is longer than that of any state_dict", entry.bytes.size()));
    }
    verify(Checksum{entry.bytes, entry.crc32});
    return entry.bytes;
  }

  const ZipEntry* storage(std::string_view key) const { return find(fmt::format("data/{}", key)); }

  std::size_t offset_of(const ZipEntry& entry) const {
    return static_cast<std::size_t>(entry.bytes.data() - file_.data());
  }

 private:
  const ZipEntry* find(std::string_view name) const {
    const auto found = entries_.find(fmt::format("{}/{}", folder_, name));
    return found == entries_.end() ? nullptr : &found->second;
  }

  Bytes file_;
  ZipEntries entries_;
  std::string_view folder_;
};

StoredTensor tensor_of(const PickleTensor& pickled, const Archive& archive) {
  const auto* entry = archive.storage(pickled.storage.key);
  const auto bytes = locate(pickled, entry);
  const auto size = element_bytes(pickled.storage.dtype);
  if (archive.offset_of(*entry) % size != 0) {
    throw UsageError(fmt::format("its storage begins at {} of the file, which is no multiple of the {} of an element",
                                 archive.offset_of(*entry), size));
  }
  return {pickled.storage.dtype, pickled.shape, pickled.strides, bytes, Checksum{entry->bytes, entry->crc32}};
}

/// Of one entry of the dictionary.
void add(TensorMap& tensors, const PickleValue& key, const PickleValue& value, const Archive& archive) {
  const auto* name = key.get<std::string_view>();
  if (name == nullptr) throw UsageError(fmt::format("a tensor's name is {}; {}", kind_of(key), kHowToSave));
  const auto* tensor = value.get<PickleTensor>();
  if (tensor == nullptr) {
    throw UsageError(fmt::format("its {} is {}, not a tensor; {}", in_quotes(*name), kind_of(value), kHowToSave));
  }
  try {
    if (tensors.emplace(*name, tensor_of(*tensor, archive)).second) return;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("tensor {}: {}", in_quotes(*name), error.what()));
  }
  throw UsageError(fmt::format("tensor {} stands twice in it", in_quotes(*name)));
}

}  // namespace

TensorMap read_state_dict(Bytes file) {
  const Archive archive(file);
  PickleMachine machine(archive.pickle());
  const auto& result = machine.run();
  const auto* dictionary = result.get<PickleDict>();
  if (dictionary == nullptr)
    throw UsageError(fmt::format("it holds {}, not a state_dict; {}", kind_of(result), kHowToSave));
  TensorMap tensors;
  for (const auto& [key, value] : dictionary->entries) add(tensors, *key, *value, archive);
  return tensors;
}

}  // namespace paretopipe::weights
