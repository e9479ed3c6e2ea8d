#pragma once
#include <cstddef>

namespace paretopipe::plan {

/// Stages and blocks are counted with int, as a person writes them; a container is indexed with this. `number` >= 0.
constexpr std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

}  // namespace paretopipe::plan
