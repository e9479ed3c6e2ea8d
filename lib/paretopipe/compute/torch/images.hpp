#pragma once
#include <paretopipe/compute/torch/samples.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

namespace paretopipe::compute {

/// Normalises images with ImageNet's mean and standard deviation, which all image models of the table, and most others,
/// were designed for. `images` holds numbers in 0 … 1, with channels before height and width. A single grey channel
/// becomes three. Call under c10::InferenceMode.
at::Tensor normalise(const at::Tensor& images);

/// Opens the images of a folder (experiment::list_images). Each is decoded (decode_image) when it is asked for and
/// becomes the model's input of 3 x H x W as in torchvision's evaluation of ImageNet models, on tensors and with
/// antialiasing:
///   Resize      so that it just covers 8/7 of the model's H x W (256 pixels for 224), keeping its proportions, by
///               bilinear interpolation with the filter widened where it shrinks, then rounded to 0 … 255
///   CenterCrop  to H x W
///   ToTensor, Normalize   divided by 255, then `normalise`
/// In contrast, a data set's images are stretched to the whole input and neither cropped nor antialiased. Throws
/// UsageError, naming the folder or the file.
std::unique_ptr<Samples> open_image_folder(const std::filesystem::path& folder, const Sample& sample);

/// Opens one of the data sets that paretopipe knows (experiment::find_in_data_set), with their labels. Images are
/// resized bilinearly to the model's input, with pixel centres aligned as in torchvision. There is no antialiasing: it
/// matters only for images that shrink, and these grow from 28 or 32 pixels. A grey channel is replicated to three.
/// Then `normalise` is applied. Reads the whole set. Throws as find_in_data_set does, and EnvironmentError for a
/// truncated or damaged file.
std::unique_ptr<Samples> open_data_set(const std::string& name, const std::string& folder, const Sample& sample);

}  // namespace paretopipe::compute
