#pragma once
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace paretopipe {

/// The process's exit status. Documented in the manual, apps/paretopipe/README.md; set only in `main`.
enum class ExitCode : int {
  success = 0,
  negative = 1,     ///< The command worked and its answer is bad: a trial failed, a check found a problem.
  usage = 2,        ///< Bad flag, bad file, bad value: nothing was run.
  environment = 3,  ///< This machine cannot do what was asked: missing program or data, privilege, port, disk.
  internal = 4,     ///< A defect of paretopipe.
  interrupted = 130,
};

/// An error that a person can act on: its text says what was attempted, why it failed and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The request is wrong (flag, file, value).
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// The machine cannot do what was asked.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& message) : Error(ExitCode::environment, message) {}
};

/// A person asked to stop (SIGINT, SIGTERM).
class Interrupted : public Error {
 public:
  Interrupted() : Error(ExitCode::interrupted, "interrupted") {}
};

/// Runs `action`, and puts `prefix` in front of the text of its UsageError.
template <class Action>
decltype(auto) with_prefix(const std::string& prefix, Action&& action) {
  try {
    return action();
  } catch (const UsageError& error) {
    throw UsageError(prefix + error.what());
  }
}

/// Makes "attempt: reason of errno", e.g. "open /x/records.jsonl: No space left on device".
EnvironmentError system_error(const std::string& attempt, int error_number);

}  // namespace paretopipe
