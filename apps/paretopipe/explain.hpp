#pragma once
#include "command.hpp"

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Adds `explain` to the command line; when the user chose it, `chosen` is set to what is to be run.
void add_explain(CLI::App& app, Command& chosen);

}  // namespace paretopipe::cli
