#pragma once
#include <paretopipe/experiment/experiment.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "compute_options.hpp"
#include "server_options.hpp"

namespace paretopipe::cli {

/// The options of the command line. Absent ones come from the experiment file, then from the defaults.
struct SweepOptions {
  std::filesystem::path experiment_file;
  std::vector<std::string> models;
  std::optional<std::string> splits;
  std::optional<int> stages;
  std::vector<std::string> partitions;
  std::optional<int> max_partitions;
  std::optional<int> num_classes;
  std::vector<std::string> baselines;
  std::optional<std::string> batch;
  std::optional<std::string> micro_batches;
  std::optional<int> batches;
  std::optional<int> warmup;
  ServerOptions server;
  std::optional<std::string> repeat;
  std::optional<std::string> precision;
  std::optional<int> max_repeat;
  std::optional<std::string> budget;
  std::optional<std::string> depth;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> data;
  std::optional<std::string> labels;
  std::optional<std::string> input;
  std::optional<std::string> cuts;
  std::optional<int> max_crossing;
  std::optional<std::string> weights;
  std::optional<std::string> threads_per_stage;
  ComputeOptions compute;
  std::vector<std::string> compute_devices;
  std::vector<std::string> cpus;
  std::optional<std::string> placement;
  std::vector<std::string> device_profiles;
  std::vector<std::string> networks;
  std::optional<std::string> shaping;
  std::optional<int> repeat_slow;
  std::optional<int> trial_timeout_s;
  bool no_flush_denormals = false;
  bool no_malloc_tuning = false;
  bool active_openmp_wait = false;
  std::filesystem::path out;
  std::filesystem::path against;  ///< another stage program; empty if there is none
  bool resume = false;
  bool dry_run = false;
  std::vector<std::string> command_line;
};

/// Adds the flags of `sweep`, which fill `options` when the command line is parsed.
void add_sweep_options(CLI::App& command, SweepOptions& options);

/// Adds the flags that choose each stage's device and the share of it that the stage may use.
void add_device_options(CLI::App& command, SweepOptions& options, const std::string& group);

/// The requested experiment. Distributes the machine's CPUs to stages that name none. Throws UsageError.
experiment::Experiment experiment_of(const SweepOptions& options);

}  // namespace paretopipe::cli
