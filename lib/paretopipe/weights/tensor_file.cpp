#include <paretopipe/core/error.hpp>
#include <paretopipe/weights/pickle_machine.hpp>
#include <paretopipe/weights/safetensors.hpp>
#include <paretopipe/weights/saved_archive.hpp>
#include <paretopipe/weights/tensor_file.hpp>

namespace paretopipe::weights {
namespace {

constexpr std::string_view kHowToSaveTensor = "save one tensor alone: torch.save(tensor, FILE)";

StoredTensor only_tensor(const TensorMap& tensors) {
  if (tensors.size() == 1) return tensors.begin()->second;
  throw UsageError(fmt::format("it holds {} tensors; {}", tensors.size(), kHowToSaveTensor));
}

StoredTensor read_saved_tensor(Bytes file) {
  const SavedArchive archive(file, kHowToSaveTensor);
  PickleMachine machine(archive.pickle());
  const auto& result = machine.run();
  if (const auto* tensor = result.get<PickleTensor>()) return archive.tensor_of(*tensor);
  throw UsageError(fmt::format("it holds {}, not a tensor; {}", kind_of(result), kHowToSaveTensor));
}

StoredTensor read_tensor_naming_file(const std::filesystem::path& path, Bytes file) {
  try {
    return read_tensor(file);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("read a tensor from {}: {}", path.string(), error.what()));
  }
}

}  // namespace

StoredTensor read_tensor(Bytes file) {
  if (file.empty()) throw UsageError("it is empty");
  if (looks_like_zip(file)) return read_saved_tensor(file);
  if (looks_like_safetensors(file)) return only_tensor(read_safetensors(file));
  throw UsageError(
      fmt::format("it is neither in the safetensors format nor a zip archive of torch.save; {}", kHowToSaveTensor));
}

TensorFile::TensorFile(std::filesystem::path path)
    : path_(std::move(path)), file_(path_), tensor_(read_tensor_naming_file(path_, file_.bytes())) {}

}  // namespace paretopipe::weights
