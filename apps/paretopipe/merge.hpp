#pragma once
#include "command.hpp"

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Adds `merge` to the command line. If the user chooses it, sets `chosen` to what is to be run.
void add_merge(CLI::App& app, Command& chosen);

}  // namespace paretopipe::cli
