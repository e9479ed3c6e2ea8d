#pragma once
#include "command.hpp"

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Adds `net` with its subcommands to the command line; when the user chose one, `chosen` is set to what is to be run.
void add_net(CLI::App& app, Command& chosen);

}  // namespace paretopipe::cli
