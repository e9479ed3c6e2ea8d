#pragma once
#include <paretopipe/launch/file_descriptor.hpp>
#include <paretopipe/shaping/kernel/namespace_ring.hpp>

#include <optional>
#include <string>
#include <vector>

#include <support/program.hpp>
#include <support/temporary_folder.hpp>

namespace paretopipe::testing {

using Words = std::vector<std::string>;

/// The built driver, started as from a shell in an empty folder, whose output can be read while it runs.
class RunningDriver {
 public:
  /// `networks`: whose first network it runs in; none: this process's.
  explicit RunningDriver(const Words& arguments, const shaping::NamespaceRing* networks = nullptr);

  pid_t pid() const { return program_->pid(); }

  /// Reads on until the output has a whole line with `words`; all that was printed so far. Throws if that does not
  /// come within half a minute.
  std::string wait_for(const std::string& words);

  support::Outcome wait();

  std::filesystem::path folder() const { return folder_.path(); }

 private:
  /// False at the end of the output.
  bool read_more();

  support::TemporaryFolder folder_;
  launch::FileDescriptor output_;
  std::string text_;
  std::optional<support::Program> program_;
};

support::Outcome run_driver(const Words& arguments, const shaping::NamespaceRing* networks = nullptr);

/// Skips the test case where this kernel lacks what shaping for one peer needs.
void need_peer_shaping();

/// The words of a command that has no blanks in them.
Words split(const std::string& line);

}  // namespace paretopipe::testing
