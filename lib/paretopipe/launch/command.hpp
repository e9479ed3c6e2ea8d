#pragma once
#include <paretopipe/launch/child_process.hpp>

#include <filesystem>
#include <string>

namespace paretopipe::launch {

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
/// Debian. Throws EnvironmentError naming the package to install.
std::filesystem::path find_program(const std::string& name, const std::string& package);

}  // namespace paretopipe::launch
