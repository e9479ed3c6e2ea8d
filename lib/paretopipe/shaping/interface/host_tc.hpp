#pragma once
#include <paretopipe/shaping/kernel/tc_commands.hpp>

#include <string>

namespace paretopipe::shaping {

/// Runs ip or tc in the network of this process (a NamespaceRing has its own), and returns what it prints. Throws
/// EnvironmentError with the command, what it said, and what to do about it: which privilege, or which module.
std::string run_tc(const Command& command);

}  // namespace paretopipe::shaping
