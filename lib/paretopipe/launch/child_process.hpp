#pragma once
#include <paretopipe/core/file_descriptor.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace paretopipe::launch {

struct ChildCommand {
  std::vector<std::string> argv;  ///< argv[0] is the program's path; no shell is involved
  std::vector<std::pair<std::string, std::string>> environment{};  ///< set over this process's environment
  /// Namespaces to enter before the program starts, in this order (a user namespace comes first: it gives the right to
  /// enter the others). Borrowed: the descriptors must be open while the child is started.
  std::vector<int> namespaces{};
  /// The cgroup.procs files, open for writing, of cgroups to enter before anything else. Borrowed likewise.
  std::vector<int> cgroups{};
  /// The control link is stdin and stdout, which a launcher such as ssh passes on, instead of kControlDescriptor. Only
  /// stderr is then kept as output.
  bool control_is_stdio = false;
};

/// A child process that does not outlive its owner. It is killed and reaped at the end of life, and killed by the
/// kernel (Linux: parent death signal) if the owner is killed. It has its own process group, so that Ctrl-C at the
/// terminal reaches only the owner, who then ends the child in order. Whatever the child started and left in that group
/// ends with it.
///
/// Spawn it from a thread that lives as long as the child: the kernel takes the end of that thread for the parent's.
class ChildProcess {
 public:
  /// Starts the command with `control` as its control link, and keeps its output (stdout and stderr) in memory. Throws
  /// EnvironmentError naming the program and the reason.
  ChildProcess(const ChildCommand& command, FileDescriptor control);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  /// How the child ended: "exited with status 3", "was killed by signal 9 (Killed)"; none while it runs. Never blocks.
  std::optional<std::string> how_it_ended();

  /// Waits up to `timeout_ms` for the child to end by itself, then kills it. Returns how it ended.
  std::string end(int timeout_ms);

  /// True if it has ended with status 0. Never blocks.
  bool succeeded();

  /// All output so far.
  std::string output() const;

  std::size_t output_size() const;  ///< in bytes

  /// The last lines of output, for error messages; empty if there are none.
  std::string last_output() const;

 private:
  std::string read_output(std::size_t at_most) const;

  pid_t pid_ = -1;
  FileDescriptor process_;  ///< pidfd: becomes readable when the child ends
  FileDescriptor output_;
  std::optional<int> wait_status_;
};

struct CommandResult {
  bool succeeded;            ///< ended with status 0
  std::string how_it_ended;  ///< "exited with status 2"
  std::string output;        ///< stdout and stderr, in the order in which they were written
};

/// Runs a program to its end and keeps its output; its input is empty. `inherited` becomes its descriptor
/// kControlDescriptor, which it can open as /proc/self/fd. A program that does not end within `timeout_ms` is killed.
/// Throws EnvironmentError if it cannot be started.
CommandResult run_command(const ChildCommand& command, int timeout_ms, FileDescriptor inherited = FileDescriptor());

/// Finds a program in the folders of PATH and in the folders for administration, which a plain user's PATH lacks on
/// Debian. Throws EnvironmentError naming the package to install, if `package` is not empty.
std::filesystem::path find_program(const std::string& name, const std::string& package);

/// Finds the stage program: the environment variable PARETOPIPE_STAGE if set, otherwise `paretopipe-stage` in the
/// folder of this executable. Throws EnvironmentError saying where it was looked for.
std::filesystem::path find_stage_program();

}  // namespace paretopipe::launch
