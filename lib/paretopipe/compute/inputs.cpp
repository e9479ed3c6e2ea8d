#include <paretopipe/compute/hashed_numbers.hpp>
#include <paretopipe/compute/image_files.hpp>
#include <paretopipe/compute/inputs.hpp>
#include <paretopipe/core/error.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <fmt/ranges.h>

namespace paretopipe::compute {
namespace {

constexpr std::string_view kRandom = "random";

struct DataSet {
  std::string_view name;
  std::string_view default_folder;
  std::array<std::string_view, 2> files;  ///< the first that exists is read
  Images (*read)(const std::filesystem::path&);
  std::string_view how_to_get;
};

constexpr std::array<DataSet, 2> kDataSets{{
    {"fashion-mnist",
     "/usr/share/datasets/fashion-mnist",
     {"t10k-images-idx3-ubyte", "t10k-images-idx3-ubyte.gz"},
     read_idx_images,
     "install it (apt install dataset-fashion-mnist)"},
    {"cifar10",
     "data/cifar-10-batches-bin",
     {"test_batch.bin", "test_batch.bin.gz"},
     read_cifar10_images,
     "download https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz and unpack it in a folder named data "
     "(mkdir -p data && tar -xzf cifar-10-binary.tar.gz -C data)"},
}};

Images read_images(const DataSet& set, const std::filesystem::path& folder) {
  for (const auto file : set.files) {
    std::error_code unreadable;  // as good as missing: the message below names the folder
    if (std::filesystem::exists(folder / file, unreadable)) return set.read(folder / file);
  }
  throw EnvironmentError(fmt::format("read {}: {} holds neither {}; {}, or name its folder as {}:DIR", set.name,
                                     folder.string(), fmt::join(set.files, " nor "), set.how_to_get, set.name));
}

/// Images first, first + 1, … of the data set, one for each row of the result; uint8.
at::Tensor gather(const Images& images, std::int64_t first, std::int64_t batch) {
  auto pixels = at::empty({batch, images.channels, images.height, images.width}, at::kByte);
  const auto image_bytes = images.channels * images.height * images.width;
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto source = images.pixels.begin() + (first + i) % images.count * image_bytes;
    std::copy_n(source, image_bytes, pixels.data_ptr<std::uint8_t>() + i * image_bytes);
  }
  return pixels;
}

at::Tensor resize_and_normalise(const at::Tensor& pixels, const std::vector<std::int64_t>& sample_shape) {
  const auto mean = at::tensor({0.485F, 0.456F, 0.406F}).view({1, 3, 1, 1});
  const auto deviation = at::tensor({0.229F, 0.224F, 0.225F}).view({1, 3, 1, 1});
  const std::array<std::int64_t, 2> size{sample_shape[1], sample_shape[2]};
  const auto resized = at::upsample_bilinear2d(pixels.to(at::kFloat).div_(255), size, /*align_corners=*/false);
  return resized.sub(mean).div_(deviation);  // a single grey channel broadcasts to three
}

at::Tensor empty_batch(const Sample& sample, const stage::ModelRequest& request, at::ScalarType type) {
  auto shape = sample.shape;
  shape.insert(shape.begin(), request.batch);
  return at::empty(shape, type);
}

at::Tensor noise(const Sample& sample, const stage::ModelRequest& request, int index) {
  auto batch = empty_batch(sample, request, at::kFloat);
  const std::span values(batch.data_ptr<float>(), static_cast<std::size_t>(batch.numel()));
  fill_normal(values, sequence_key(request.seed, "input", std::to_string(index)));
  return batch;
}

/// Any but the first four of the vocabulary, which mean begin, padding, end and unknown; a sequence begins with the
/// first and ends with the third.
at::Tensor random_tokens(const Sample& sample, const stage::ModelRequest& request, int index) {
  constexpr std::int64_t kBegin = 0;
  constexpr std::int64_t kEnd = 2;
  constexpr std::int64_t kFirstWord = 4;
  auto batch = empty_batch(sample, request, at::kLong);
  const std::span tokens(batch.data_ptr<std::int64_t>(), static_cast<std::size_t>(batch.numel()));
  const auto words = static_cast<std::uint64_t>(sample.vocabulary - kFirstWord);
  const auto key = sequence_key(request.seed, "input", std::to_string(index));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = kFirstWord + static_cast<std::int64_t>(hashed_bits(key, i) % words);
  }
  batch.select(1, 0).fill_(kBegin);
  batch.select(1, -1).fill_(kEnd);
  return batch;
}

at::Tensor random_input(const Sample& sample, const stage::ModelRequest& request, int index) {
  return sample.is_tokens() ? random_tokens(sample, request, index) : noise(sample, request, index);
}

/// Null for random inputs.
const DataSet* find_data_set(std::string_view name, std::string_view data) {
  if (data == kRandom) return nullptr;
  const auto found = std::ranges::find(kDataSets, name, &DataSet::name);
  if (found == kDataSets.end()) {
    throw UsageError(
        fmt::format("there is no data set \"{}\"; known are fashion-mnist[:DIR], cifar10[:DIR], random", data));
  }
  return &*found;
}

void check_takes_images(const Sample& sample, const stage::ModelRequest& request) {
  if (!sample.is_tokens() && sample.shape.size() == 3 && sample.shape.front() == 3) return;
  const auto what = sample.is_tokens() ? "tokens" : fmt::format("samples of {}", fmt::join(sample.shape, "x"));
  throw UsageError(fmt::format("{} takes {}, and {} gives images of 3 channels; use --data random", request.model, what,
                               request.data));
}

std::string_view name_of_data(const stage::ModelRequest& request) {
  return std::string_view(request.data).substr(0, request.data.find(':'));
}

}  // namespace

void check_data(const Sample& sample, const stage::ModelRequest& request) {
  if (find_data_set(name_of_data(request), request.data) != nullptr) check_takes_images(sample, request);
}

std::vector<at::Tensor> make_input_batches(const Sample& sample, const stage::ModelRequest& request, int count) {
  if (request.batch < 1) throw UsageError(fmt::format("a batch has at least one image, not {}", request.batch));
  check_data(sample, request);
  const auto name = name_of_data(request);
  const auto* set = find_data_set(name, request.data);
  std::optional<Images> images;
  if (set != nullptr) {
    const bool folder_given = name.size() < request.data.size();
    images = read_images(*set, folder_given ? request.data.substr(name.size() + 1) : set->default_folder);
  }
  std::vector<at::Tensor> batches;
  for (int i = 0; i < count; ++i) {
    const auto first = std::int64_t{i} * request.batch;
    batches.push_back(images ? resize_and_normalise(gather(*images, first, request.batch), sample.shape)
                             : random_input(sample, request, i));
  }
  return batches;
}

}  // namespace paretopipe::compute
