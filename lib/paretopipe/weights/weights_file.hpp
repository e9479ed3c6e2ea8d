#pragma once
#include <paretopipe/weights/mapped_file.hpp>
#include <paretopipe/weights/stored_tensor.hpp>

#include <filesystem>
#include <string>

namespace paretopipe::weights {

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

/// What the constructor makes of the bytes of a file.
TensorMap read_tensors(std::span<const std::byte> file);

}  // namespace paretopipe::weights
