#pragma once
#include <paretopipe/weights/mapped_file.hpp>
#include <paretopipe/weights/stored_tensor.hpp>

#include <filesystem>
#include <string>

namespace paretopipe::weights {

/// A file of weights on the disk: safetensors, or a state_dict as torch.save writes it. What it is is seen from its
/// bytes, not from its name. Opening it reads what describes the tensors; the tensors' own bytes are read from the disk
/// when they are touched.
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

/// What the constructor does with the bytes of a file.
TensorMap read_tensors(std::span<const std::byte> file);

}  // namespace paretopipe::weights
