#pragma once
#include <paretopipe/config/compute_mode.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace paretopipe::config {

/// How stages compute, as far as an experiment specifies it.
struct ComputeChoice {
  std::optional<Compute> compute{};  ///< none: `auto`, the model's default
  Precision dtype = Precision::float32;
  MemoryFormat memory_format = MemoryFormat::contiguous;

  bool operator==(const ComputeChoice&) const = default;
};

/// The mode for a model. The default is optimized, as in deployments. results/README.md has the measurement of every
/// split of every model that ships, and every trial checks its own results. The default of a synthetic model is eager,
/// because it computes nothing that could be optimized.
ComputeMode mode_for(const ComputeChoice& choice, std::string_view model);

/// "auto" for none.
std::string to_string(const std::optional<Compute>& compute);

/// Inverse of to_string(). Throws UsageError that lists the names.
std::optional<Compute> parse_compute_choice(const std::string& text);

}  // namespace paretopipe::config
