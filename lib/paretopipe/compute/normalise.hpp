#pragma once
#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// Normalises images with ImageNet's mean and standard deviation, which all image models of the table, and most others,
/// were designed for. `images` holds numbers in 0 … 1, with channels before height and width. A single grey channel
/// becomes three. Call under c10::InferenceMode.
at::Tensor normalise(const at::Tensor& images);

}  // namespace paretopipe::compute
