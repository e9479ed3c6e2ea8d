#pragma once
#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/compute/files/stored_tensor.hpp>

#include <filesystem>
#include <string>

namespace paretopipe::files {

/// A file of weights on the disk: safetensors, or a state_dict as torch.save writes it. The bytes decide which it is,
/// not the name. Opening reads the tensors' descriptions; the tensors' own bytes are read from the disk when touched.
class WeightsFile {
 public:
  /// Throws UsageError, naming the file, if it cannot be opened, is of another format, truncated, damaged or hostile
  /// (read_safetensors and read_state_dict say what that means).
  explicit WeightsFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const TensorMap& tensors() const { return tensors_; }

 private:
  std::filesystem::path path_;
  MappedFile file_;
  TensorMap tensors_;
};

/// Reads the bytes of a file as the constructor does. The result refers to them. Throws UsageError, a sentence without
/// the file's name.
TensorMap read_tensors(std::span<const std::byte> file);

/// A file with one tensor: what `torch.save(tensor, FILE)` writes with PyTorch 1.6 or newer, or a .safetensors file
/// with one tensor. The bytes decide which it is, not the name. Nothing in it is executed. Opening reads the tensor's
/// description; the tensor's own bytes are read from the disk when touched.
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

/// Reads the bytes of a file as the constructor does. The result refers to them. Throws UsageError, a sentence without
/// the file's name.
StoredTensor read_tensor(std::span<const std::byte> file);

}  // namespace paretopipe::files
