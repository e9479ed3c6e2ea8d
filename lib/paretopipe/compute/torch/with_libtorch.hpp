#pragma once
#include <paretopipe/core/error.hpp>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <c10/core/InferenceMode.h>

namespace paretopipe::compute {

/// LibTorch's message of an error on one line, without the traces of its own source and of an archive's code.
std::string reason_of(const std::exception& error);

/// Runs `action`. Exceptions of others (the loader, the passes, the interpreter: LibTorch has no common type for them)
/// become "attempt: reason" with the given code.
template <class Action>
auto with_autograd(std::string_view attempt, Action action, ExitCode failure = ExitCode::internal) {
  try {
    return action();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(failure, fmt::format("{}: {}", attempt, reason_of(error)));
  }
}

/// Does the same in inference mode, which is a flag of the calling thread.
template <class Action>
auto with_libtorch(std::string_view attempt, Action action, ExitCode failure = ExitCode::internal) {
  const c10::InferenceMode inference;
  return with_autograd(attempt, std::move(action), failure);
}

}  // namespace paretopipe::compute
