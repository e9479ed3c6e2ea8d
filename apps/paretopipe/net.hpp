#pragma once
#include "command.hpp"

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Adds `net` with its subcommands to the command line. If the user chooses one, sets `chosen` to what is to be run.
void add_net(CLI::App& app, Command& chosen);

}  // namespace paretopipe::cli
