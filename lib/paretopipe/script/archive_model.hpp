#pragma once
#include <paretopipe/config/archive.hpp>
#include <paretopipe/script/cut.hpp>
#include <paretopipe/script/prepare.hpp>
#include <paretopipe/weights/mapped_file.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace paretopipe::script {

/// An archive as a graph that can be cut. Its parameters are in the mapped file, so computing with them reads its
/// pages.
struct ArchiveModel {
  std::shared_ptr<const weights::MappedFile> file;
  PreparedModel prepared;
  std::vector<Cut> cuts;  ///< those of find_cuts, then the output

  /// Releases the file's pages from memory; they are read again when needed.
  void forget_file() const { file->forget(file->bytes()); }
};

/// Checks the file and loads it. Never holds more of it in memory than its code and a few pages. Throws UsageError if
/// the file does not have the archive's SHA-256, is no archive, or cannot be cut. Call under c10::InferenceMode.
ArchiveModel load_archive(const std::filesystem::path& file, const config::Archive& archive);

}  // namespace paretopipe::script
