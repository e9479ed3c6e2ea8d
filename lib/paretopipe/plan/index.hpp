#pragma once
#include <cstddef>

namespace paretopipe::plan {

/// Converts a number of stages or blocks, which is an int as a person writes it, to a container index. `number` >= 0.
constexpr std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

}  // namespace paretopipe::plan
