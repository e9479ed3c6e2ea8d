#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// What a model takes one of for each row of a batch.
struct Sample {
  std::vector<std::int64_t> shape;  ///< without the batch dimension
  std::int64_t vocabulary = 0;      ///< tokens below it, int64; 0: float32

  bool is_tokens() const { return vocabulary > 0; }
};

/// Throws UsageError for another data string than those below, and for images where the samples are none. Reads
/// nothing, so that a wrong request is refused before anything is done for it.
void check_data(const Sample& sample, const stage::ModelRequest& request);

/// `count` batches of such samples, contiguous. Of a data set, whose samples are 3 x height x width, float32, batch j
/// holds images j*batch … in the file's order, beginning again at the first after the last. `request.data` is one of
///   fashion-mnist[:DIR]  t10k-images-idx3-ubyte[.gz]; DIR is /usr/share/datasets/fashion-mnist unless given
///   cifar10[:DIR]        test_batch.bin of the binary version; DIR is data/cifar-10-batches-bin unless given
///   random               unit-variance noise or random tokens, a function of the seed alone
/// Images are resized bilinearly, pixel centres aligned as torchvision does. There is no antialiasing: it matters only
/// when images shrink, and these grow from 28 or 32 pixels. Grey is replicated to three channels. Then ImageNet's mean
/// and standard deviation, which all models of the table, and most others, were designed for.
/// Call under c10::InferenceMode. Throws UsageError as check_data does and for a batch below 1, EnvironmentError for a
/// missing, truncated or damaged file.
std::vector<at::Tensor> make_input_batches(const Sample& sample, const stage::ModelRequest& request, int count);

}  // namespace paretopipe::compute
