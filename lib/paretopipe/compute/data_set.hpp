#pragma once
#include <paretopipe/compute/sample.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace paretopipe::compute {

/// Opens one of the data sets that paretopipe knows, with their labels:
///   fashion-mnist  t10k-images-idx3-ubyte[.gz]; the default folder is /usr/share/datasets/fashion-mnist
///   cifar10        test_batch.bin of the binary version; the default folder is data/cifar-10-batches-bin
/// Images are resized bilinearly to the model's input, with pixel centres aligned as in torchvision. There is no
/// antialiasing: it matters only for images that shrink, and these grow from 28 or 32 pixels. A grey channel is
/// replicated to three. Then `normalise` is applied. Reads the whole set. Throws UsageError for an unknown name, and
/// EnvironmentError for a missing, truncated or damaged file.
std::unique_ptr<Samples> open_data_set(std::string_view name, const std::string& folder, const Sample& sample);

}  // namespace paretopipe::compute
