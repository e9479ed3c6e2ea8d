#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace paretopipe::support {

/// How a program ended and what it said. The exit code is 128 + the signal for one that a signal ended.
struct Outcome {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

/// A program started as from a shell, in `folder`, with its outputs kept in memory. Killed at the end of life if it
/// still runs.
class Program {
 public:
  /// `standard_output`: a file to open instead of keeping the output, e.g. /dev/full.
  Program(const std::vector<std::string>& argv, const std::filesystem::path& folder,
          const std::filesystem::path& standard_output = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }

  /// Waits for its end.
  Outcome wait();

 private:
  pid_t pid_ = -1;
  int output_;
  int errors_;
};

}  // namespace paretopipe::support
