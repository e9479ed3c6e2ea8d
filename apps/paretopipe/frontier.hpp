#pragma once
#include "command.hpp"

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Adds `frontier` to the command line. If the user chooses it, sets `chosen` to what is to be run.
void add_frontier(CLI::App& app, Command& chosen);

}  // namespace paretopipe::cli
