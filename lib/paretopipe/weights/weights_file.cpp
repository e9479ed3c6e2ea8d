#include <paretopipe/core/error.hpp>
#include <paretopipe/weights/safetensors.hpp>
#include <paretopipe/weights/state_dict.hpp>
#include <paretopipe/weights/weights_file.hpp>
#include <paretopipe/weights/zip_archive.hpp>

namespace paretopipe::weights {
namespace {

/// What PyTorch wrote before 1.6, and what pickle.dump writes.
bool looks_like_bare_pickle(std::span<const std::byte> file) {
  return !file.empty() && file[0] == std::byte{0x80};
}

TensorMap read_naming_file(const std::filesystem::path& path, std::span<const std::byte> file) {
  try {
    return read_tensors(file);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("read weights from {}: {}", path.string(), error.what()));
  }
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
    : path_(std::move(path)), file_(path_), tensors_(read_naming_file(path_, file_.bytes())) {}

}  // namespace paretopipe::weights
