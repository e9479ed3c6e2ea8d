#pragma once
#include <paretopipe/compute/sample.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace paretopipe::compute {

/// One of the data sets that paretopipe knows, with their labels:
///   fashion-mnist  t10k-images-idx3-ubyte[.gz]; the folder is /usr/share/datasets/fashion-mnist unless given
///   cifar10        test_batch.bin of the binary version; the folder is data/cifar-10-batches-bin unless given
/// Images are resized bilinearly to the model's input, pixel centres aligned as torchvision does. There is no
/// antialiasing: it matters only when images shrink, and these grow from 28 or 32 pixels. Grey is replicated to three
/// channels. Then `normalise`. Reads the whole set. Throws UsageError for an unknown name, EnvironmentError for a
/// missing, truncated or damaged file.
std::unique_ptr<Samples> open_data_set(std::string_view name, const std::string& folder, const Sample& sample);

}  // namespace paretopipe::compute
