#pragma once
#include <string>
#include <vector>

#include "command.hpp"

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Adds `sweep` to the command line. If the user chooses it, sets `chosen` to what is to be run. The records contain
/// `command_line`.
void add_sweep(CLI::App& app, Command& chosen, std::vector<std::string> command_line);

}  // namespace paretopipe::cli
