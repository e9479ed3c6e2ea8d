#pragma once
#include <paretopipe/model/zoo.hpp>
#include <paretopipe/stage/backend.hpp>

#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::model {

/// `count` batches for the model, N x 3 x side x side, float32, contiguous (or N x length tokens, int64, for which
/// there is random only); batch j holds images j*batch … of the data set in the file's order, beginning again at the
/// first after the last. `request.data` is one of
///   fashion-mnist[:DIR]  t10k-images-idx3-ubyte[.gz]; DIR is /usr/share/datasets/fashion-mnist unless given
///   cifar10[:DIR]        test_batch.bin of the binary version; DIR is data/cifar-10-batches-bin unless given
///   random               unit-variance noise or random tokens, a function of the seed alone
/// Images are resized bilinearly, pixel centres aligned as torchvision does. There is no antialiasing: it matters only
/// when images shrink, and these grow from 28 or 32 pixels. Grey is replicated to three channels. Then ImageNet's mean
/// and standard deviation, which the models of the table were designed for (densenet_cifar: close to those of CIFAR).
/// Call under c10::InferenceMode. Throws UsageError for another data string or a batch below 1, EnvironmentError for a
/// missing, truncated or damaged file.
std::vector<at::Tensor> make_input_batches(const Model& model, const stage::ModelRequest& request, int count);

}  // namespace paretopipe::model
