#pragma once
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <string>

namespace paretopipe::shaping {

/// Runs ip or tc in the network of this process (a NamespaceRing has its own) and returns the output. Throws
/// EnvironmentError with the command, its message, and the remedy: the missing privilege or module.
std::string run_tc(const Command& command);

}  // namespace paretopipe::shaping
