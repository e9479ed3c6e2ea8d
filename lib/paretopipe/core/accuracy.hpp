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

/// How far the unsplit model, computed as a trial computes it, is from the same weights in eager mode and float32.
struct UnsplitFidelity {
  double max_abs_difference = 0;  ///< of the logits
  double top1_agreement = 1;      ///< share of images whose largest logit is the same
  std::int64_t images = 0;        ///< compared
  double tolerance = 0;           ///< that the difference may not exceed

  bool kept() const { return max_abs_difference <= tolerance; }
  bool operator==(const UnsplitFidelity&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnsplitFidelity, max_abs_difference, top1_agreement, images, tolerance)

}  // namespace paretopipe
