#pragma once
#include <paretopipe/core/error.hpp>

#include <functional>

namespace paretopipe::cli {

/// The command that the user chose, with its options parsed.
using Command = std::function<ExitCode()>;

}  // namespace paretopipe::cli
