#pragma once
#include <paretopipe/core/error.hpp>

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace paretopipe::cli {

/// The command that the user chose, with its options parsed.
using Command = std::function<ExitCode()>;

// Each of these adds a subcommand to the command line, and sets `chosen` to what is to be run if the user chooses it.
// The records of `sweep` and the data sheet of `calibrate` contain `command_line`.

void add_calibrate(CLI::App& app, Command& chosen, std::vector<std::string> command_line);
void add_codecs(CLI::App& app, Command& chosen);
void add_compare(CLI::App& app, Command& chosen);
void add_devices(CLI::App& app, Command& chosen);
void add_doctor(CLI::App& app, Command& chosen);
void add_explain(CLI::App& app, Command& chosen);
void add_export(CLI::App& app, Command& chosen);
void add_frontier(CLI::App& app, Command& chosen);
void add_merge(CLI::App& app, Command& chosen);
void add_models(CLI::App& app, Command& chosen);
void add_net(CLI::App& app, Command& chosen);
void add_plot(CLI::App& app, Command& chosen);
void add_predict(CLI::App& app, Command& chosen);
void add_profile(CLI::App& app, Command& chosen);
void add_report(CLI::App& app, Command& chosen);
void add_run(CLI::App& app, Command& chosen);
void add_sweep(CLI::App& app, Command& chosen, std::vector<std::string> command_line);
void add_train(CLI::App& app, Command& chosen);

}  // namespace paretopipe::cli
