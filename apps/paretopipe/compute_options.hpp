#pragma once
#include <paretopipe/experiment/compute_mode.hpp>

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace paretopipe::cli {

/// The command line's options on how to compute.
struct ComputeOptions {
  std::optional<std::string> compute;
  std::optional<std::string> dtype;
  std::optional<std::string> memory_format;

  bool any() const { return compute || dtype || memory_format; }
};

void add_compute_options(CLI::App& command, ComputeOptions& options, const std::string& group);

/// Applies the options to `choice`. Throws UsageError for an unknown word.
void override_compute(experiment::ComputeChoice& choice, const ComputeOptions& options);

}  // namespace paretopipe::cli
