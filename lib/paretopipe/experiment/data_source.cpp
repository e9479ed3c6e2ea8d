#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/data_source.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::experiment {

namespace {

/// A kind of data that `--data` can name.
struct Kind {
  std::string_view name;
  std::string_view place;  ///< what follows the colon; empty if nothing may
  bool needs_place;
  bool own_labels;
  bool of_images;
};

constexpr std::array<Kind, 7> kKinds{{{"fashion-mnist", "DIR", false, true, true},
                                      {"fashion-mnist-train", "DIR", false, true, true},
                                      {"cifar10", "DIR", false, true, true},
                                      {"random", "", false, false, false},
                                      {"images", "DIR", true, false, true},
                                      {"tensor", "FILE", true, false, false},
                                      {"tokens", "FILE", true, false, false}}};

/// "fashion-mnist[:DIR]", "images:DIR", …
std::string forms_of_data() {
  std::vector<std::string> forms;
  for (const auto& kind : kKinds) {
    const auto place = kind.place.empty() ? "" : fmt::format(":{}", kind.place);
    forms.push_back(fmt::format("{}{}", kind.name, kind.needs_place || place.empty() ? place : "[" + place + "]"));
  }
  return fmt::format("{}", fmt::join(forms, ", "));
}

const Kind& find_kind(const std::string& name, const std::string& data) {
  const auto found = std::ranges::find(kKinds, name, &Kind::name);
  if (found != kKinds.end()) return *found;
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  throw UsageError(fmt::format("\"{}\"; it must be one of {}{}", data, forms_of_data(), did_you_mean(name, names)));
}

void check_labels(const Kind& kind, const std::string& labels) {
  if (labels.empty()) return;
  if (kind.name == "random") throw UsageError("\"random\", and what is random has no labels; leave them out");
  if (labels == kOwnLabels && !kind.own_labels) {
    throw UsageError(fmt::format(
        "\"{}\", which brings no labels of its own; name a file with the class of each sample, one a line", kind.name));
  }
}

std::filesystem::path absolute(const std::string& place) {
  auto path = std::filesystem::absolute(place).lexically_normal();
  if (is_utf8(path.string())) return path;
  throw UsageError(
      fmt::format("the path of {} is not valid UTF-8, in which stages have it; rename the folders above it", place));
}

bool is_image(const std::filesystem::path& file) {
  auto ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

std::string sha256_of_images(const std::filesystem::path& folder) {
  std::string list;
  for (const auto& image : list_images(folder)) {
    list += fmt::format("{}  {}\n", sha256_of_file(image), image.filename().string());
  }
  return sha256_of_text(list);
}

}  // namespace

bool DataChoice::own_labels() const {
  return std::ranges::any_of(kKinds, [this](const Kind& one) { return one.name == kind && one.own_labels; });
}

bool DataChoice::of_images() const {
  return std::ranges::any_of(kKinds, [this](const Kind& one) { return one.name == kind && one.of_images; });
}

DataChoice parse_data(const std::string& data) {
  const auto colon = data.find(':');
  if (colon == data.npos) return {data, {}};
  return {data.substr(0, colon), data.substr(colon + 1)};
}

std::string name_of_data(const std::string& data) {
  const auto choice = parse_data(data);
  if (!choice.own_files()) return data;
  auto path = absolute(choice.place);
  if (!path.has_filename()) path = path.parent_path();  // the name of "photos/" is photos
  return fmt::format("{}:{}", choice.kind, path.filename().string());
}

void check_data_choice(const std::string& data, const std::string& labels) {
  const auto choice = parse_data(data);
  const auto& kind = find_kind(choice.kind, data);
  const bool has_colon = data.size() > choice.kind.size();
  if (has_colon && kind.place.empty()) {
    throw UsageError(fmt::format("\"{}\"; {} takes no folder", data, kind.name));
  }
  const auto* place = kind.place == "DIR" ? "folder" : "file";
  if (has_colon && choice.place.empty()) throw UsageError(fmt::format("\"{}\"; it names no {}", data, place));
  if (!has_colon && kind.needs_place) {
    throw UsageError(fmt::format("\"{}\"; it names no {}: write {}:{}", data, place, kind.name, kind.place));
  }
  check_labels(kind, labels);
}

std::vector<std::filesystem::path> list_images(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> images;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    std::error_code vanished;  // a dangling link is no file
    if (is_image(entry->path()) && entry->is_regular_file(vanished)) images.push_back(entry->path());
    entry.increment(error);
  }
  if (error) throw UsageError(fmt::format("read images from {}: {}", folder.string(), error.message()));
  if (images.empty()) {
    throw UsageError(
        fmt::format("read images from {}: it holds no file whose name ends in .jpg, .jpeg or .png", folder.string()));
  }
  std::ranges::sort(images, {}, [](const auto& image) { return image.filename().string(); });
  return images;
}

DataSource find_data(const std::string& data, const std::string& labels) {
  DataSource source{.name = name_of_data(data), .request = data, .labels = labels, .identity = {}};
  const auto choice = parse_data(data);
  if (choice.own_files()) {
    const auto path = absolute(choice.place);
    source.request = fmt::format("{}:{}", choice.kind, path.string());
    source.identity.sha256 = choice.kind == "images" ? sha256_of_images(path) : sha256_of_file(path);
  }
  if (labels.empty() || labels == kOwnLabels) {
    source.identity.labels = labels;
  } else {
    source.labels = absolute(labels).string();
    source.identity.labels = sha256_of_file(source.labels);
  }
  return source;
}

}  // namespace paretopipe::experiment
