#pragma once
#include "command.hpp"

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// Adds `doctor` to the command line. If the user chooses it, sets `chosen` to what is to be run.
void add_doctor(CLI::App& app, Command& chosen);

}  // namespace paretopipe::cli
