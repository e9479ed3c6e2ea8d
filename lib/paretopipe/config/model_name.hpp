#pragma once
#include <string_view>

namespace paretopipe::config {

inline constexpr std::string_view kSyntheticPrefix = "synthetic:";

/// Whether what a person wrote as a model is one that sleeps rather than computes (synthetic/synthetic_model.hpp), well
/// written or not.
constexpr bool is_synthetic(std::string_view model) {
  return model.starts_with(kSyntheticPrefix);
}

}  // namespace paretopipe::config
