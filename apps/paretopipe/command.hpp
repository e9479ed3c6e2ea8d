#pragma once
#include <paretopipe/core/error.hpp>

#include <functional>

namespace paretopipe::cli {

/// What the command line asked for, with its options parsed.
using Command = std::function<ExitCode()>;

}  // namespace paretopipe::cli
