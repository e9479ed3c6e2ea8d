#pragma once
#include <paretopipe/config/compute_mode.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paretopipe::config {

/// How stages are to compute, as far as an experiment says so.
struct ComputeChoice {
  std::optional<Compute> compute{};  ///< nothing: `auto`, what is usual for the model
  Precision dtype = Precision::float32;
  MemoryFormat memory_format = MemoryFormat::contiguous;

  bool operator==(const ComputeChoice&) const = default;
};

/// What the choice is for a model. Usual is optimized, as deployments compute: results/README.md has the measurement of
/// every split of every model that ships, and every trial compares its own results. A synthetic model computes nothing
/// that could be optimized.
ComputeMode mode_for(const ComputeChoice& choice, std::string_view model);

/// "auto" for nothing.
std::string to_string(const std::optional<Compute>& compute);

/// The counterpart. Throws UsageError that lists the names.
std::optional<Compute> parse_compute_choice(const std::string& text);

}  // namespace paretopipe::config
