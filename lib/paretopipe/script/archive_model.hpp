#pragma once
#include <paretopipe/config/archive.hpp>
#include <paretopipe/script/cut.hpp>
#include <paretopipe/script/prepare.hpp>
#include <paretopipe/weights/mapped_file.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace paretopipe::script {

/// An archive as a graph that can be cut. Parameters are where the file is mapped: whoever computes with them touches
/// its pages.
struct ArchiveModel {
  std::shared_ptr<const weights::MappedFile> file;
  PreparedModel prepared;
  std::vector<Cut> cuts;  ///< find_cuts, and behind them the output

  /// Gives back what was read of the file; it is read again when it is needed.
  void forget_file() const { file->forget(file->bytes()); }
};

/// Checks the file and loads it. Never holds more of it in memory than its code and a few of its pages. Call under
/// c10::InferenceMode. Throws UsageError for a file that is not the one of the archive's SHA-256, that is no archive,
/// or cannot be cut.
ArchiveModel load_archive(const std::filesystem::path& file, const config::Archive& archive);

}  // namespace paretopipe::script
