#include <paretopipe/compute/files/pickle_machine.hpp>
#include <paretopipe/compute/files/safetensors.hpp>
#include <paretopipe/compute/files/saved_archive.hpp>
#include <paretopipe/compute/files/weights_file.hpp>
#include <paretopipe/compute/files/zip_archive.hpp>
#include <paretopipe/core/error.hpp>

namespace paretopipe::files {

namespace {

/// Reads the file's bytes with `reader`, whose errors then name the file.
template <class Read>
auto read_naming_file(std::string_view what, const std::filesystem::path& path, Bytes file, Read reader) {
  return with_prefix(fmt::format("read {} from {}: ", what, path.string()), [&] { return reader(file); });
}

/// What PyTorch wrote before 1.6, and what pickle.dump writes.
bool looks_like_bare_pickle(Bytes file) {
  return !file.empty() && file[0] == std::byte{0x80};
}

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

}  // namespace

TensorMap read_tensors(std::span<const std::byte> file) {
  if (file.empty()) throw UsageError("it is empty");
  if (looks_like_zip(file)) return read_state_dict(file);
  if (looks_like_safetensors(file)) return read_safetensors(file);
  if (looks_like_bare_pickle(file)) {
    throw UsageError(
        "it is a bare pickle, PyTorch's format before 1.6, which is not read here; write it anew with a newer PyTorch: "
        "torch.save(torch.load(FILE), NEW_FILE)");
  }
  throw UsageError("it is neither in the safetensors format nor a zip archive of torch.save");
}

WeightsFile::WeightsFile(std::filesystem::path path)
    : path_(std::move(path)), file_(path_), tensors_(read_naming_file("weights", path_, file_.bytes(), read_tensors)) {}

StoredTensor read_tensor(Bytes file) {
  if (file.empty()) throw UsageError("it is empty");
  if (looks_like_zip(file)) return read_saved_tensor(file);
  if (looks_like_safetensors(file)) return only_tensor(read_safetensors(file));
  throw UsageError(
      fmt::format("it is neither in the safetensors format nor a zip archive of torch.save; {}", kHowToSaveTensor));
}

TensorFile::TensorFile(std::filesystem::path path)
    : path_(std::move(path)), file_(path_), tensor_(read_naming_file("a tensor", path_, file_.bytes(), read_tensor)) {}

}  // namespace paretopipe::files
