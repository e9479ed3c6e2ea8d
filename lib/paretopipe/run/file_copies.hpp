#pragma once
#include <paretopipe/run/stage_client.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace paretopipe::run {

/// The copies of this machine's files on the devices of stages (stage/file_cache.hpp). A device keeps them from sweep
/// to sweep, so a file is sent once. No stage is asked twice for the same file.
class FileCopies {
 public:
  using Limits = std::function<WaitLimits()>;

  /// `limits` gives the limits of a wait that begins now; every question and every piece of a file is a wait of its
  /// own. `notice` (may be empty) is told which file is sent, because that may take long.
  FileCopies(Limits limits, Notice notice) : limits_(std::move(limits)), notice_(std::move(notice)) {}

  /// The path of the file on the stage's device. The file has these contents, and is sent if the device does not have
  /// it. Throws UsageError if the file cannot be read, StageError if the device cannot keep it, and Interrupted.
  const std::string& place(StageClient& stage, const std::string& sha256, const std::filesystem::path& file);

  /// The path on the stage's device of a folder that holds these files under their names, which differ. Throws
  /// likewise.
  std::string place_together(StageClient& stage, const std::vector<std::filesystem::path>& files);

 private:
  class Reader;

  /// `what`: the files, as an error names them.
  template <class Action>
  auto refusing(StageClient& stage, const std::string& what, const Action& action);
  std::string find_or_send(StageClient& stage, const std::string& sha256, const std::filesystem::path& file);
  void tell(const StageClient& stage, const std::string& what) const;
  std::string send(StageClient& stage, const std::string& sha256, Reader& reader);

  Limits limits_;
  Notice notice_;
  std::map<std::pair<int, std::string>, std::string> known_;  ///< paths, by stage and SHA-256
};

}  // namespace paretopipe::run
