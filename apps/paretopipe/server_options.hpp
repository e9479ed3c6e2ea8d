#pragma once
#include <paretopipe/config/experiment.hpp>

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace paretopipe::cli {

/// What the command line said of phases and load.
struct ServerOptions {
  std::optional<std::string> scenario;
  std::optional<std::string> rates;
  std::optional<std::string> find_max_rate;
  std::optional<int> queries;
};

void add_server_options(CLI::App& command, ServerOptions& options);

/// The options over what an experiment file said. Throws UsageError for what cannot be read, and for options that
/// contradict each other; ranges are for config::validate to check.
void override_load(config::Experiment& experiment, const ServerOptions& options);

}  // namespace paretopipe::cli
