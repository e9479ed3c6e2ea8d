#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// `count` batches of samples of that shape (without the batch dimension), float32, contiguous. Of a data set, whose
/// samples are 3 x height x width, batch j holds images j*batch … in the file's order, beginning again at the first
/// after the last. `request.data` is one of
///   fashion-mnist[:DIR]  t10k-images-idx3-ubyte[.gz]; DIR is /usr/share/datasets/fashion-mnist unless given
///   cifar10[:DIR]        test_batch.bin of the binary version; DIR is data/cifar-10-batches-bin unless given
///   random               unit-variance noise, a function of the seed alone
/// Images are resized bilinearly, pixel centres aligned as torchvision does. There is no antialiasing: it matters only
/// when images shrink, and these grow from 28 or 32 pixels. Grey is replicated to three channels. Then ImageNet's mean
/// and standard deviation, which all models of the table, and most others, were designed for.
/// Call under c10::InferenceMode. Throws UsageError for another data string, a batch below 1 or images where the
/// samples are none, EnvironmentError for a missing, truncated or damaged file.
std::vector<at::Tensor> make_input_batches(const std::vector<std::int64_t>& sample_shape,
                                           const stage::ModelRequest& request, int count);

}  // namespace paretopipe::compute
