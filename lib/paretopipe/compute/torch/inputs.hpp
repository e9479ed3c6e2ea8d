#pragma once
#include <paretopipe/compute/torch/samples.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

// `request.data` is one of
//   fashion-mnist[-train][:DIR], cifar10[:DIR]   open_data_set
//   images:DIR                                   open_image_folder
//   tensor:FILE                                  open_tensor_samples
//   tokens:FILE                                  open_token_samples
//   random                                       random_input
// `request.labels` is empty, "own" (those of the data set) or a file (read_labels) with one line per sample.
// Call all of these under c10::InferenceMode.

/// Throws UsageError for any other data string, for data from which the model's samples cannot be made, and for labels
/// that do not belong to them. Reads no data set and no image, so that a wrong request is refused early.
void check_data(const Sample& sample, const stage::ModelRequest& request);

/// Makes `count` contiguous batches. Batch j holds the samples from (first_batch + j) * batch on, in the request's
/// order, and starts over after the last sample. Throws UsageError as check_data does, for a batch below 1 and for a
/// damaged file of the user's, and EnvironmentError for a data set that is missing, truncated or damaged.
std::vector<at::Tensor> make_input_batches(const Sample& sample, const stage::ModelRequest& request, int count);

/// See stage::Backend::make_labels.
std::vector<std::int64_t> make_labels(const Sample& sample, const stage::ModelRequest& request, int count);

}  // namespace paretopipe::compute
