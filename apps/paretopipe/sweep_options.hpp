#pragma once
#include <paretopipe/experiment/settings.hpp>
#include <paretopipe/experiment/shard.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace paretopipe::cli {

/// The options of a sweep's command line. What no flag gives comes from the experiment file, then from the defaults.
struct SweepOptions {
  std::filesystem::path experiment_file;
  experiment::GivenFlags settings;
  std::filesystem::path out;
  std::filesystem::path against;              ///< another stage program; empty if there is none
  std::vector<std::filesystem::path> guided;  ///< profiles that say which splits to measure; empty: all
  experiment::Shard shard;                    ///< the part of the plan to measure; 1/1 is all of it
  bool resume = false;
  bool dry_run = false;
  std::vector<std::string> command_line;
};

/// Adds the flags of the settings with these keys, or of all, in the order of the table. What a person gives is in
/// `given`, which must outlive the command, once the command line is parsed.
void add_setting_flags(CLI::App& command, experiment::GivenFlags& given, const std::vector<std::string>& keys = {});

/// Adds the flags of `sweep`, which fill `options` when the command line is parsed.
void add_sweep_options(CLI::App& command, SweepOptions& options);

/// The requested experiment. Throws UsageError.
experiment::Experiment experiment_of(const SweepOptions& options);

/// Deals the machine's CPUs out to stages that name none, and validates. Throws UsageError.
experiment::Experiment completed(experiment::Experiment experiment);

}  // namespace paretopipe::cli
