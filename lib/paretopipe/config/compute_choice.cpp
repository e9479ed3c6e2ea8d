#include <paretopipe/config/compute_choice.hpp>
#include <paretopipe/config/model_name.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/suggest.hpp>

#include <array>

#include <fmt/format.h>

namespace paretopipe::config {
namespace {

constexpr const char* kAutomatic = "auto";

}  // namespace

ComputeMode mode_for(const ComputeChoice& choice, std::string_view model) {
  const auto usual = is_synthetic(model) ? Compute::eager : Compute::optimized;
  return {choice.compute.value_or(usual), choice.dtype, choice.memory_format};
}

std::string to_string(const std::optional<Compute>& compute) {
  return compute ? to_string(*compute) : kAutomatic;
}

std::optional<Compute> parse_compute_choice(const std::string& text) {
  for (const auto& choice : std::array<std::optional<Compute>, 3>{std::nullopt, Compute::eager, Compute::optimized}) {
    if (text == to_string(choice)) return choice;
  }
  throw UsageError(fmt::format("compute is \"{}\"; it must be auto, eager or optimized{}", text,
                               did_you_mean(text, {kAutomatic, "eager", "optimized"})));
}

}  // namespace paretopipe::config
