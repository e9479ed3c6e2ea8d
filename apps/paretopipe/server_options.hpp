#pragma once
#include <paretopipe/experiment/experiment.hpp>

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace paretopipe::cli {

/// The command line's options on phases and load.
struct ServerOptions {
  std::optional<std::string> scenario;
  std::optional<std::string> rates;
  std::optional<std::string> find_max_rate;
  std::optional<int> queries;
};

void add_server_options(CLI::App& command, ServerOptions& options);

/// Applies the options to what an experiment file says. Throws UsageError for options that cannot be parsed or that
/// contradict each other; experiment::validate checks ranges.
void override_load(experiment::Experiment& experiment, const ServerOptions& options);

}  // namespace paretopipe::cli
