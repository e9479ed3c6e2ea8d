#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/data_files.hpp>
#include <paretopipe/experiment/data_source.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

/// Alternative names of one file; the first that exists is read.
using FileNames = std::array<std::string_view, 2>;

struct DataSet {
  std::string_view name;
  std::string_view default_folder;
  FileNames images;
  FileNames labels;
  std::string_view how_to_get;
};

constexpr FileNames kCifar{"test_batch.bin", "test_batch.bin.gz"};

constexpr std::array<DataSet, 3> kDataSets{{
    {"fashion-mnist",
     "/usr/share/datasets/fashion-mnist",
     {"t10k-images-idx3-ubyte", "t10k-images-idx3-ubyte.gz"},
     {"t10k-labels-idx1-ubyte", "t10k-labels-idx1-ubyte.gz"},
     "install it (apt install dataset-fashion-mnist)"},
    {"fashion-mnist-train",
     "/usr/share/datasets/fashion-mnist",
     {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz"},
     {"train-labels-idx1-ubyte", "train-labels-idx1-ubyte.gz"},
     "install it (apt install dataset-fashion-mnist)"},
    {"cifar10", "data/cifar-10-batches-bin", kCifar, kCifar,
     "download https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz and unpack it in a folder named data "
     "(mkdir -p data && tar -xzf cifar-10-binary.tar.gz -C data)"},
}};

}  // namespace

std::filesystem::path find_in_data_set(std::string_view name, const std::string& folder, DataSetPart part) {
  const auto set = std::ranges::find(kDataSets, name, &DataSet::name);
  if (set == kDataSets.end()) throw UsageError(fmt::format("there is no data set \"{}\"", name));
  const std::filesystem::path place = folder.empty() ? set->default_folder : folder;
  const auto& names = part == DataSetPart::images ? set->images : set->labels;
  for (const auto file : names) {
    std::error_code unreadable;  // counts as missing: the message below names the folder
    if (std::filesystem::exists(place / file, unreadable)) return place / file;
  }
  throw EnvironmentError(fmt::format("read {}: {} holds neither {}; {}, or name its folder as {}:DIR", set->name,
                                     place.string(), fmt::join(names, " nor "), set->how_to_get, set->name));
}

std::vector<std::filesystem::path> files_of_data(const std::string& request, const std::string& labels) {
  const auto choice = parse_data(request);
  if (choice.kind == "images") return list_images(choice.place);
  if (choice.own_files()) return {choice.place};
  if (!choice.own_labels()) return {};
  std::vector files{find_in_data_set(choice.kind, choice.place, DataSetPart::images)};
  if (labels != kOwnLabels) return files;
  auto of_labels = find_in_data_set(choice.kind, choice.place, DataSetPart::labels);
  if (of_labels != files.front()) files.push_back(std::move(of_labels));
  return files;
}

std::string data_in_folder(const std::string& request, const std::filesystem::path& folder) {
  const auto choice = parse_data(request);
  const bool one_file = choice.own_files() && choice.kind != "images";
  const auto place = one_file ? folder / std::filesystem::path(choice.place).filename() : folder;
  return fmt::format("{}:{}", choice.kind, place.string());
}

}  // namespace paretopipe::experiment
