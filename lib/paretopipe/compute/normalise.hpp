#pragma once
#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// Images whose numbers are 0 … 1, channels in front of height and width, with ImageNet's mean and standard deviation:
/// what all image models of the table, and most others, were designed for. Of grey images, whose single channel becomes
/// three, too. Call under c10::InferenceMode.
at::Tensor normalise(const at::Tensor& images);

}  // namespace paretopipe::compute
