#pragma once
#include <paretopipe/core/error.hpp>

#include <string_view>

#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

namespace paretopipe::compute {

/// Runs `action` in inference mode, a flag of the calling thread, and converts LibTorch's exceptions to ours.
template <class Action>
auto with_libtorch(std::string_view attempt, Action action, ExitCode failure = ExitCode::internal) {
  const c10::InferenceMode inference;
  try {
    return action();
  } catch (const c10::Error& error) {
    throw Error(failure, fmt::format("{}: {}", attempt, error.what_without_backtrace()));
  }
}

}  // namespace paretopipe::compute
