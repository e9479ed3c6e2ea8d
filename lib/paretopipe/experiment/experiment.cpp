#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/json_file.hpp>
#include <paretopipe/experiment/settings.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::experiment {

namespace {

/// "server.queries" is `queries` of the object `server`; a key without a dot is one of the experiment itself.
std::pair<std::string, std::string> parts_of(const std::string& key) {
  const auto dot = key.find('.');
  if (dot == std::string::npos) return {"", key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

}  // namespace

void to_json(nlohmann::json& json, const Experiment& experiment) {
  json = nlohmann::json::object();
  for (const auto& setting : settings()) {
    const auto [object, key] = parts_of(setting.key);
    auto& parent = object.empty() ? json : json[object];
    // "repeat" has its bounds only where it is adaptive, and otherwise is a number.
    if (parent.is_object()) parent[key] = setting.value.write(experiment);
  }
}

Experiment experiment_from_json(const nlohmann::json& json, const Experiment& defaults) {
  auto experiment = defaults;
  std::map<std::string, ObjectReader> readers;
  readers.emplace("", ObjectReader(json, "experiment"));
  for (const auto& setting : settings()) {
    const auto [object, key] = parts_of(setting.key);
    const auto reader = readers.find(object);
    const auto* value = reader == readers.end() ? nullptr : reader->second.find(key);
    if (value == nullptr) continue;
    setting.value.read(experiment, *value, setting.path());
    if (value->is_object()) readers.emplace(setting.key, ObjectReader(*value, setting.path()));
  }
  for (const auto& [object, reader] : readers) reader.refuse_unknown_keys();
  // What the devices of `on` decide is not known before they are found.
  if (experiment.on.empty()) {
    validate(experiment);
  } else {
    check_ranges(experiment);
  }
  return experiment;
}

Experiment load_experiment(const std::filesystem::path& file) {
  const auto json = read_json_file(file, "experiment");
  return with_prefix(file.string() + ": ", [&] { return experiment_from_json(json); });
}

namespace {

/// Longer than any chain of blocks; bounds what a mistyped range can allocate.
constexpr int kMaxSplitPoint = 9999;

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError(fmt::format(
      "{} is not a choice of split points; write it like \"all\", \"3\" or \"0,2-5\" (0 to {})", text, kMaxSplitPoint));
}

}  // namespace

SplitSelection parse_splits(const std::string& text) {
  if (text == "all") return {};
  auto points = parse_number_list(text, kMaxSplitPoint);
  if (!points) refuse(fmt::format("\"{}\"", text));
  return {.all = false, .points = *std::move(points)};
}

std::string to_string(const SplitSelection& splits) {
  return splits.all ? "all" : format_number_list(splits.points);
}

void to_json(nlohmann::json& json, const SplitSelection& splits) {
  json = to_string(splits);
}

void from_json(const nlohmann::json& json, SplitSelection& splits) {
  if (json.is_string()) {
    splits = parse_splits(json.get<std::string>());
    return;
  }
  if (!json.is_array() || json.empty()) refuse(json.dump());
  std::vector<int> points;
  for (const auto& item : json) {
    if (!item.is_number_integer() || item < 0 || item > kMaxSplitPoint) refuse(json.dump());
    points.push_back(item.get<int>());
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  splits = {.all = false, .points = std::move(points)};
}

std::vector<int> micro_batch_sizes(const Experiment& experiment, int batch) {
  if (experiment.micro_batches.empty()) return {batch};
  std::vector<int> sizes;
  for (const int size : experiment.micro_batches) {
    if (size >= 1 && batch % size == 0) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace paretopipe::experiment
