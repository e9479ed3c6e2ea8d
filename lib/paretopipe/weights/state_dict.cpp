#include <paretopipe/core/error.hpp>
#include <paretopipe/weights/pickle_machine.hpp>
#include <paretopipe/weights/saved_archive.hpp>
#include <paretopipe/weights/state_dict.hpp>

namespace paretopipe::weights {
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
  try {
    if (tensors.emplace(*name, archive.tensor_of(*tensor)).second) return;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("tensor {}: {}", in_quotes(*name), error.what()));
  }
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

}  // namespace paretopipe::weights
