#pragma once
#include <paretopipe/compute/sample.hpp>

#include <filesystem>
#include <memory>

namespace paretopipe::compute {

/// Opens the images of a folder (config::list_images). Each is decoded (decode_image) when it is asked for and becomes
/// the model's input of 3 x H x W as in torchvision's evaluation of ImageNet models, on tensors and with antialiasing:
///   Resize      so that it just covers 8/7 of the model's H x W (256 pixels for 224), keeping its proportions, by
///               bilinear interpolation with the filter widened where it shrinks, then rounded to 0 … 255
///   CenterCrop  to H x W
///   ToTensor, Normalize   divided by 255, then `normalise`
/// In contrast, a data set's images are stretched to the whole input and neither cropped nor antialiased. Throws
/// UsageError, naming the folder or the file.
std::unique_ptr<Samples> open_image_folder(const std::filesystem::path& folder, const Sample& sample);

}  // namespace paretopipe::compute
