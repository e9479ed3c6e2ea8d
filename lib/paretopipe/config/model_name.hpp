#pragma once
#include <string_view>

namespace paretopipe::config {

inline constexpr std::string_view kSyntheticPrefix = "synthetic:";

/// True if a model name means a model that sleeps instead of computing (synthetic/synthetic_model.hpp), even if it is
/// malformed.
constexpr bool is_synthetic(std::string_view model) {
  return model.starts_with(kSyntheticPrefix);
}

}  // namespace paretopipe::config
