#include <paretopipe/config/experiment.hpp>
#include <paretopipe/core/json.hpp>

namespace paretopipe::config {
namespace {

ComputeTuning read_tuning(const nlohmann::json& json, ComputeTuning tuning) {
  ObjectReader reader(json, "experiment.tuning");
  reader.read("flush_denormals", tuning.flush_denormals);
  reader.read("tune_malloc", tuning.tune_malloc);
  reader.read("passive_openmp_wait", tuning.passive_openmp_wait);
  reader.refuse_unknown_keys();
  return tuning;
}

SplitSelection read_splits(const nlohmann::json& json) {
  try {
    return json.get<SplitSelection>();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("experiment.splits: {}", error.what()));
  }
}

/// 5, "auto", or {"precision": 0.01, "trials": 30, "budget_s": 60}: auto with other bounds than the usual ones.
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
          {"batch", experiment.batch},
          {"micro_batches", experiment.micro_batches},
          {"batches", experiment.batches},
          {"warmup", experiment.warmup},
          {"repeat", experiment.repeat},
          {"depth", experiment.depth},
          {"seed", experiment.seed},
          {"data", experiment.data},
          {"weights", experiment.weights},
          {"threads_per_stage", experiment.threads_per_stage},
          {"cpus", experiment.cpus},
          {"tuning", experiment.tuning},
          {"networks", experiment.networks},
          {"shaping", experiment.shaping},
          {"repeat_slow", experiment.repeat_slow},
          {"trial_timeout_s", experiment.trial_timeout_s},
          {"input", experiment.input},
          {"cuts", experiment.cuts},
          {"server", experiment.server}};
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
  reader.read("batch", experiment.batch);
  reader.read("micro_batches", experiment.micro_batches);
  reader.read("batches", experiment.batches);
  reader.read("warmup", experiment.warmup);
  if (const auto* repeat = reader.find("repeat")) experiment.repeat = read_repeat(*repeat);
  reader.read("depth", experiment.depth);
  reader.read("seed", experiment.seed);
  reader.read("data", experiment.data);
  reader.read("weights", experiment.weights);
  reader.read("threads_per_stage", experiment.threads_per_stage);
  reader.read("cpus", experiment.cpus);
  if (const auto* tuning = reader.find("tuning")) experiment.tuning = read_tuning(*tuning, experiment.tuning);
  reader.read("networks", experiment.networks);
  reader.read("shaping", experiment.shaping);
  reader.read("repeat_slow", experiment.repeat_slow);
  reader.read("trial_timeout_s", experiment.trial_timeout_s);
  reader.read("input", experiment.input);
  reader.read("cuts", experiment.cuts);
  if (const auto* server = reader.find("server")) {
    experiment.server = server_settings_from_json(*server, experiment.server);
  }
  reader.refuse_unknown_keys();
  validate(experiment);
  return experiment;
}

}  // namespace paretopipe::config
