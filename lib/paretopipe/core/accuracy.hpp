#pragma once
#include <cstdint>

#include <nlohmann/json.hpp>

namespace paretopipe {

/// How often a classifier is right, where the right classes are known.
struct Accuracy {
  double top1 = 0;          ///< share of the images whose largest logit is that of their class
  std::int64_t images = 0;  ///< looked at, each once

  bool operator==(const Accuracy&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Accuracy, top1, images)

}  // namespace paretopipe
