#include "images.hpp"

#include <paretopipe/codec/pixels.hpp>
#include <paretopipe/compute/torch/decode_image.hpp>
#include <paretopipe/compute/torch/image_files.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/data_files.hpp>
#include <paretopipe/experiment/data_source.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <fmt/format.h>

namespace paretopipe::compute {

at::Tensor normalise(const at::Tensor& images) {
  const auto mean = at::tensor(codec::kPixelMean).view({1, 3, 1, 1});
  const auto deviation = at::tensor(codec::kPixelDeviation).view({1, 3, 1, 1});
  return images.sub(mean).div_(deviation);  // a single grey channel broadcasts to three
}

namespace {

struct Size {
  std::int64_t height;
  std::int64_t width;
};

/// The size to which an image is resized before it is cropped to `target`. As in torchvision, the longer side is
/// rounded down.
Size resized(Size image, Size target) {
  const auto margin = [](std::int64_t side) { return std::llround(static_cast<double>(side) * 8 / 7); };
  const Size cover{margin(target.height), margin(target.width)};
  if (cover.height * image.width >= cover.width * image.height) {
    return {cover.height, cover.height * image.width / image.height};
  }
  return {cover.width * image.height / image.width, cover.width};
}

/// torchvision uses Python's round(), which rounds halves to even.
std::int64_t crop_begin(std::int64_t whole, std::int64_t part) {
  return std::lrint(static_cast<double>(whole - part) / 2);
}

class ImageFolder final : public Samples {
 public:
  ImageFolder(const std::filesystem::path& folder, const Sample& sample)
      : files_(experiment::list_images(folder)), target_{sample.shape.at(1), sample.shape.at(2)} {}

  std::int64_t count() const override { return static_cast<std::int64_t>(files_.size()); }

  void write(std::int64_t index, at::Tensor row) const override {
    const auto& file = files_.at(static_cast<std::size_t>(index));
    auto image = decode_image(file);
    const auto size = resized({image.height, image.width}, target_);
    if (size.height > kMostPixels / size.width) {
      throw UsageError(fmt::format("read an image from {}: its {} x {} pixels are too long and narrow to be cropped",
                                   file.string(), image.width, image.height));
    }
    const auto pixels = at::from_blob(image.pixels.data(), {1, image.height, image.width, 3}, at::kByte);
    const auto levels = pixels.permute({0, 3, 1, 2}).to(at::kFloat).contiguous();
    const std::array<std::int64_t, 2> sides{size.height, size.width};
    const auto scaled = at::_upsample_bilinear2d_aa(levels, sides, /*align_corners=*/false).round_().clamp_(0, 255);
    const auto cropped = scaled.narrow(2, crop_begin(size.height, target_.height), target_.height)
                             .narrow(3, crop_begin(size.width, target_.width), target_.width);
    row.copy_(normalise(cropped.div(255)).select(0, 0));
  }

 private:
  std::vector<std::filesystem::path> files_;
  Size target_;
};

}  // namespace

std::unique_ptr<Samples> open_image_folder(const std::filesystem::path& folder, const Sample& sample) {
  return std::make_unique<ImageFolder>(folder, sample);
}

namespace {

Images read_images(const std::string& name, const std::string& folder) {
  const auto file = experiment::find_in_data_set(name, folder, experiment::DataSetPart::images);
  if (name == "cifar10") return read_cifar10_images(file);
  return read_idx_images(file);  // both parts of Fashion-MNIST
}

class DataSetSamples final : public Samples {
 public:
  DataSetSamples(std::string name, std::string folder, const Sample& sample)
      : name_(std::move(name)),
        folder_(std::move(folder)),
        size_{sample.shape.at(1), sample.shape.at(2)},
        images_(read_images(name_, folder_)) {}

  std::int64_t count() const override { return images_.count; }

  void write(std::int64_t index, at::Tensor row) const override {
    auto pixels = at::empty({1, images_.channels, images_.height, images_.width}, at::kByte);
    const auto image_bytes = images_.channels * images_.height * images_.width;
    std::copy_n(images_.pixels.begin() + index * image_bytes, image_bytes, pixels.data_ptr<std::uint8_t>());
    const auto resized = at::upsample_bilinear2d(pixels.to(at::kFloat).div_(255), size_, /*align_corners=*/false);
    row.copy_(normalise(resized).select(0, 0));
  }

  std::vector<std::int64_t> labels() const override {
    const auto labels =
        images_.labels.empty()
            ? read_idx_labels(experiment::find_in_data_set(name_, folder_, experiment::DataSetPart::labels))
            : images_.labels;
    return {labels.begin(), labels.end()};
  }

 private:
  std::string name_;
  std::string folder_;
  std::array<std::int64_t, 2> size_;
  Images images_;
};

}  // namespace

std::unique_ptr<Samples> open_data_set(const std::string& name, const std::string& folder, const Sample& sample) {
  return std::make_unique<DataSetSamples>(name, folder, sample);
}

}  // namespace paretopipe::compute
