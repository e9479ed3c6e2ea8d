#include <paretopipe/weights/archive_pickle.hpp>
#include <paretopipe/weights/pickle_machine.hpp>
#include <paretopipe/weights/pickled_tensor.hpp>

namespace paretopipe::weights {

std::vector<ArchiveStorage> check_archive_pickle(Bytes pickle, const StorageFinder& find) {
  std::vector<ArchiveStorage> storages;
  PickleMachine machine(pickle, PickleDialect::archive);
  machine.run();
  for (const auto& value : machine.values()) {
    if (const auto* tensor = value.get<PickleTensor>()) locate(*tensor, find(tensor->storage.key));
    const auto* storage =
        value.get<PickleStorage>();  // LibTorch treats it as a tensor of its own, whether or not one is made of it
    if (storage == nullptr) continue;
    const auto* entry = find(storage->key);
    check_storage(*storage, entry);
    storages.push_back({storage->key, entry});
  }
  return storages;
}

}  // namespace paretopipe::weights
