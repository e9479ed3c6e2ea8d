#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/experiment/experiment.hpp>
#include <paretopipe/experiment/json_file.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::experiment {

namespace {

ComputeTuning read_tuning(const nlohmann::json& json, ComputeTuning tuning) {
  ObjectReader reader(json, "experiment.tuning");
  reader.read("flush_denormals", tuning.flush_denormals);
  reader.read("tune_malloc", tuning.tune_malloc);
  reader.read("passive_openmp_wait", tuning.passive_openmp_wait);
  reader.refuse_unknown_keys();
  return tuning;
}

ComputeChoice read_choice(ObjectReader& reader, const ComputeChoice& usual) {
  auto compute = to_string(usual.compute);
  auto dtype = to_string(usual.dtype);
  auto memory_format = to_string(usual.memory_format);
  reader.read("compute", compute);
  reader.read("dtype", dtype);
  reader.read("memory_format", memory_format);
  try {
    return {parse_compute_choice(compute), parse_precision(dtype), parse_memory_format(memory_format)};
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("experiment.{}", error.what()));
  }
}

Phases read_phases(ObjectReader& reader, Phases usual) {
  auto phases = to_string(usual);
  reader.read("phases", phases);
  try {
    return parse_phases(phases);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("experiment.{}", error.what()));
  }
}

SplitSelection read_splits(const nlohmann::json& json) {
  try {
    return json.get<SplitSelection>();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("experiment.splits: {}", error.what()));
  }
}

/// Reads 8, or [1, 8].
Axis read_axis(const nlohmann::json& json, const std::string& key) {
  std::vector<int> values;
  for (const auto& item : json.is_array() ? json : nlohmann::json::array({json})) {
    const nlohmann::json object{{key, item}};
    ObjectReader(object, "experiment").read(key, values.emplace_back());
  }
  return values;
}

/// Reads 5, "auto", or {"precision": 0.01, "trials": 30, "budget_s": 60}, which is "auto" with other bounds than the
/// default.
Repeat read_repeat(const nlohmann::json& json) {
  if (json.is_number_integer()) {
    const nlohmann::json object{{"repeat", json}};
    Repeat repeat;
    ObjectReader(object, "experiment").read("repeat", repeat.trials);
    return repeat;
  }
  Repeat repeat{.adaptive = true, .trials = kMostAdaptiveTrials};
  if (json == "auto") return repeat;
  if (!json.is_object()) {
    throw UsageError(fmt::format(
        "experiment.repeat is {}; it must be a number of trials, \"auto\", or an object that says when auto ends",
        json.dump()));
  }
  ObjectReader reader(json, "experiment.repeat");
  reader.read("trials", repeat.trials);
  reader.read("precision", repeat.precision);
  reader.read("budget_s", repeat.budget_s);
  reader.refuse_unknown_keys();
  return repeat;
}

}  // namespace

void to_json(nlohmann::json& json, const Repeat& repeat) {
  if (!repeat.adaptive) {
    json = repeat.trials;
    return;
  }
  json = {{"trials", repeat.trials}, {"precision", repeat.precision}, {"budget_s", repeat.budget_s}};
}

void to_json(nlohmann::json& json, const ComputeTuning& tuning) {
  json = {{"flush_denormals", tuning.flush_denormals},
          {"tune_malloc", tuning.tune_malloc},
          {"passive_openmp_wait", tuning.passive_openmp_wait}};
}

void from_json(const nlohmann::json& json, ComputeTuning& tuning) {
  json.at("flush_denormals").get_to(tuning.flush_denormals);
  json.at("tune_malloc").get_to(tuning.tune_malloc);
  json.at("passive_openmp_wait").get_to(tuning.passive_openmp_wait);
}

void to_json(nlohmann::json& json, const Experiment& experiment) {
  json = {{"models", experiment.models},
          {"splits", experiment.splits},
          {"stages", experiment.stages},
          {"partitions", experiment.partitions},
          {"max_partitions", experiment.max_partitions},
          {"num_classes", experiment.num_classes},
          {"baselines", experiment.baselines},
          {"batch", experiment.batch},
          {"micro_batches", experiment.micro_batches},
          {"batches", experiment.batches},
          {"warmup", experiment.warmup},
          {"repeat", experiment.repeat},
          {"depth", experiment.depth},
          {"seed", experiment.seed},
          {"data", experiment.data},
          {"labels", experiment.labels},
          {"weights", experiment.weights},
          {"threads_per_stage", experiment.threads_per_stage},
          {"cpus", experiment.cpus},
          {"tuning", experiment.tuning},
          {"compute", to_string(experiment.compute.compute)},
          {"dtype", to_string(experiment.compute.dtype)},
          {"memory_format", to_string(experiment.compute.memory_format)},
          {"compute_devices", experiment.compute_devices},
          {"networks", experiment.networks},
          {"shaping", experiment.shaping},
          {"repeat_slow", experiment.repeat_slow},
          {"trial_timeout_s", experiment.trial_timeout_s},
          {"input", experiment.input},
          {"cuts", experiment.cuts},
          {"max_crossing", experiment.max_crossing},
          {"phases", experiment.phases},
          {"server", experiment.server},
          {"placement", experiment.placement},
          {"device_profiles", experiment.device_profiles}};
}

Experiment experiment_from_json(const nlohmann::json& json, const Experiment& defaults) {
  Experiment experiment = defaults;
  ObjectReader reader(json, "experiment");
  reader.read("models", experiment.models);
  if (const auto* splits = reader.find("splits")) experiment.splits = read_splits(*splits);
  reader.read("stages", experiment.stages);
  reader.read("partitions", experiment.partitions);
  reader.read("max_partitions", experiment.max_partitions);
  reader.read("num_classes", experiment.num_classes);
  reader.read("baselines", experiment.baselines);
  if (const auto* batch = reader.find("batch")) experiment.batch = read_axis(*batch, "batch");
  reader.read("micro_batches", experiment.micro_batches);
  reader.read("batches", experiment.batches);
  reader.read("warmup", experiment.warmup);
  if (const auto* repeat = reader.find("repeat")) experiment.repeat = read_repeat(*repeat);
  if (const auto* depth = reader.find("depth")) experiment.depth = read_axis(*depth, "depth");
  reader.read("seed", experiment.seed);
  reader.read("data", experiment.data);
  reader.read("labels", experiment.labels);
  reader.read("weights", experiment.weights);
  if (const auto* threads = reader.find("threads_per_stage")) {
    experiment.threads_per_stage = read_axis(*threads, "threads_per_stage");
  }
  reader.read("cpus", experiment.cpus);
  if (const auto* tuning = reader.find("tuning")) experiment.tuning = read_tuning(*tuning, experiment.tuning);
  experiment.compute = read_choice(reader, experiment.compute);
  reader.read("compute_devices", experiment.compute_devices);
  reader.read("networks", experiment.networks);
  reader.read("shaping", experiment.shaping);
  reader.read("repeat_slow", experiment.repeat_slow);
  reader.read("trial_timeout_s", experiment.trial_timeout_s);
  reader.read("input", experiment.input);
  reader.read("cuts", experiment.cuts);
  reader.read("max_crossing", experiment.max_crossing);
  experiment.phases = read_phases(reader, experiment.phases);
  if (const auto* server = reader.find("server")) {
    experiment.server = server_settings_from_json(*server, experiment.server);
  }
  reader.read("placement", experiment.placement);
  reader.read("device_profiles", experiment.device_profiles);
  reader.refuse_unknown_keys();
  validate(experiment);
  return experiment;
}

Experiment load_experiment(const std::filesystem::path& file) {
  const auto json = read_json_file(file, "experiment");
  return naming_file(file, [&] { return experiment_from_json(json); });
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

}  // namespace paretopipe::experiment
