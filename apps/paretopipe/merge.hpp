#pragma once
#include "command.hpp"

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Adds `merge` to the command line; when the user chose it, `chosen` is set to what is to be run.
void add_merge(CLI::App& app, Command& chosen);

}  // namespace paretopipe::cli
