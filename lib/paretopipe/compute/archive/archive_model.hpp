#pragma once
#include <paretopipe/compute/files/bytes.hpp>
#include <paretopipe/experiment/model_description.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "container.hpp"
#include "cuts.hpp"
#include "prepare.hpp"

namespace paretopipe::archive {

/// Copies tensors from a mapped file to ordinary memory. Otherwise, pages that the system takes back would be read from
/// the disk again in the middle of a measurement.
class OwnTensors {
 public:
  explicit OwnTensors(std::shared_ptr<const files::MappedFile> file) : file_(std::move(file)) {}

  /// A copy with the same order in memory, or the tensor itself if it is not in the file. Tensors with the same memory
  /// get the same copy.
  at::Tensor own(const at::Tensor& tensor);

 private:
  using Place = std::pair<const void*, std::int64_t>;  ///< address and number of bytes

  std::shared_ptr<const files::MappedFile> file_;
  std::map<Place, at::Tensor> copies_;  ///< one-dimensional
};

/// An archive as a graph that can be cut. Its parameters are in the mapped file, so computing with them reads its
/// pages.
struct ArchiveModel {
  std::shared_ptr<const files::MappedFile> file;
  PreparedModel prepared;
  std::vector<Cut> cuts;  ///< those of find_cuts, then the output

  /// Releases the file's pages from memory; they are read again when needed.
  void forget_file() const { file->forget(file->bytes()); }
};

/// Checks the file and loads it. Never holds more of it in memory than its code and a few pages. Throws UsageError if
/// the file does not have the archive's SHA-256, is no archive, or cannot be cut. Call under c10::InferenceMode.
ArchiveModel load_archive(const std::filesystem::path& file, const experiment::Archive& archive);

}  // namespace paretopipe::archive
