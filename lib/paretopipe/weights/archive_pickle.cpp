#include <paretopipe/weights/archive_pickle.hpp>
#include <paretopipe/weights/pickle_machine.hpp>
#include <paretopipe/weights/pickled_tensor.hpp>

namespace paretopipe::weights {

void check_archive_pickle(Bytes pickle, const StorageFinder& storage) {
  PickleMachine machine(pickle, PickleDialect::archive);
  machine.run();
  for (const auto& value : machine.values()) {
    const auto* tensor = value.get<PickleTensor>();
    if (tensor != nullptr) locate(*tensor, storage(tensor->storage.key));
  }
}

}  // namespace paretopipe::weights
