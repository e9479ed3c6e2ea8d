#pragma once
#include <paretopipe/compute/sample.hpp>
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

// `request.data` is one of
//   fashion-mnist[:DIR], cifar10[:DIR]   open_data_set
//   images:DIR                           open_image_folder
//   tensor:FILE                          open_tensor_samples
//   tokens:FILE                          open_token_samples
//   random                               random_input
// and `request.labels` empty, "own" (of a data set) or a file (read_labels) with as many lines as there are samples.
// All are to be called under c10::InferenceMode.

/// Throws UsageError for another data string, for data of which the model's samples cannot be made, and for labels that
/// do not belong to them. Data sets are not read, nor is any image, so that a wrong request is refused before much is
/// done for it.
void check_data(const Sample& sample, const stage::ModelRequest& request);

/// `count` batches of such samples, contiguous. Batch j holds samples j*batch … in the data's order, beginning again at
/// the first after the last. Throws UsageError as check_data does, for a batch below 1 and for a damaged file of a
/// person's own, EnvironmentError for a data set that is missing, truncated or damaged.
std::vector<at::Tensor> make_input_batches(const Sample& sample, const stage::ModelRequest& request, int count);

/// As stage::Backend::make_labels says.
std::vector<std::int64_t> make_labels(const Sample& sample, const stage::ModelRequest& request, int count);

}  // namespace paretopipe::compute
