#pragma once
#include <paretopipe/weights/mapped_file.hpp>
#include <paretopipe/weights/stored_tensor.hpp>

#include <filesystem>

namespace paretopipe::weights {

/// A file with one tensor: what `torch.save(tensor, FILE)` writes with PyTorch 1.6 or newer, or a .safetensors file
/// that holds one. What it is is seen from its bytes, not from its name. Nothing in it is executed. Opening it reads
/// what describes the tensor; the tensor's own bytes are read from the disk when they are touched.
class TensorFile {
 public:
  /// Throws UsageError, naming the file, if it cannot be opened, is of another format, truncated, damaged or hostile
  /// (read_safetensors, SavedArchive and PickleMachine say what that means), or holds anything but one tensor.
  explicit TensorFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const StoredTensor& tensor() const { return tensor_; }

 private:
  std::filesystem::path path_;
  MappedFile file_;
  StoredTensor tensor_;
};

/// What the constructor does with the bytes of a file.
StoredTensor read_tensor(std::span<const std::byte> file);

}  // namespace paretopipe::weights
