#pragma once
#include <paretopipe/core/json_fields.hpp>

#include <cstdint>

#include <nlohmann/json.hpp>

namespace paretopipe {

/// How often a classifier is right, for images whose class is known.
struct Accuracy {
  double top1 = 0;          ///< share of images whose largest logit is that of their class
  std::int64_t images = 0;  ///< number of images, each counted once

  bool operator==(const Accuracy&) const = default;
};
PARETOPIPE_JSON(Accuracy, top1, images)

/// How far the unsplit model, computed in a trial's mode, is from the same weights in eager mode and float32.
struct UnsplitFidelity {
  double max_abs_difference = 0;  ///< of the logits
  double top1_agreement = 1;      ///< share of images whose largest logit is the same
  std::int64_t images = 0;        ///< number of images compared
  double tolerance = 0;           ///< the largest difference allowed

  bool kept() const { return max_abs_difference <= tolerance; }
  bool operator==(const UnsplitFidelity&) const = default;
};
PARETOPIPE_JSON(UnsplitFidelity, max_abs_difference, top1_agreement, images, tolerance)

}  // namespace paretopipe
