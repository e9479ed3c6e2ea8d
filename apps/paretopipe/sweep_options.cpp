#include "sweep_options.hpp"

#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/devices.hpp>
#include <paretopipe/host/cpu_set.hpp>

#include <chrono>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "whole_numbers.hpp"

namespace paretopipe::cli {
namespace {

template <class T>
void override_with(T& value, const std::optional<T>& flag) {
  if (flag) value = *flag;
}

/// Rounded up to whole seconds: rounds of trials cannot be timed more exactly.
int seconds_of_budget(const std::string& text) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(parse_duration(text)).count();
  if (seconds < 1 || seconds > std::numeric_limits<int>::max()) {
    throw UsageError(fmt::format("--budget is \"{}\"; it must be at least a second, such as 90s", text));
  }
  return static_cast<int>(seconds);
}

/// Ascending. experiment::validate checks which numbers make sense.
std::vector<int> parse_axis(const char* flag, const std::string& text) {
  constexpr int kMost = experiment::kMostImages;  // the largest that any of them allows
  if (auto values = parse_number_list(text, kMost)) return *std::move(values);
  throw UsageError(
      fmt::format("{} is \"{}\"; it must be a number up to {}, or a list of them such as 1,2,4", flag, text, kMost));
}

void override_axes(experiment::Experiment& experiment, const SweepOptions& options) {
  if (options.batch) experiment.batch = parse_axis("--batch", *options.batch);
  if (options.micro_batches) experiment.micro_batches = parse_axis("--micro-batch", *options.micro_batches);
  if (options.depth) experiment.depth = parse_axis("--depth", *options.depth);
  if (options.threads_per_stage) {
    experiment.threads_per_stage = parse_axis("--threads-per-stage", *options.threads_per_stage);
  }
}

/// "auto", or a number of trials.
experiment::Repeat parse_repeat(const std::string& text) {
  if (text == "auto") return {.adaptive = true, .trials = experiment::kMostAdaptiveTrials};
  const auto number = nlohmann::json::parse(text, nullptr, false);
  if (number.is_number_integer()) return experiment::experiment_from_json({{"repeat", number}}).repeat;
  throw UsageError(fmt::format("--repeat is \"{}\"; it must be a number of trials, or auto", text));
}

/// Flags override the file: `--precision 1%` alone changes the precision of a file's auto.
void override_repeat(experiment::Repeat& repeat, const SweepOptions& options) {
  if (options.repeat) repeat = parse_repeat(*options.repeat);
  if (!repeat.adaptive && (options.precision || options.max_repeat || options.budget)) {
    throw UsageError("--precision, --max-repeat and --budget say when --repeat auto ends; add it");
  }
  if (options.precision) repeat.precision = parse_probability(*options.precision);
  override_with(repeat.trials, options.max_repeat);
  if (options.budget) repeat.budget_s = seconds_of_budget(*options.budget);
}

/// Split points and partitions are two ways to say the same: a flag for one replaces both from a file.
void override_partitions(experiment::Experiment& experiment, const SweepOptions& options) {
  override_with(experiment.stages, options.stages);
  override_with(experiment.max_partitions, options.max_partitions);
  if (options.splits || !options.partitions.empty()) {
    experiment.splits = {};
    experiment.partitions = options.partitions;
  }
  if (options.splits) experiment.splits = experiment::parse_splits(*options.splits);
}

void add_model_options(CLI::App& command, SweepOptions& options) {
  const std::string group = "What is measured";
  command.add_option("experiment", options.experiment_file, "Experiment file (configs/README.md); flags win over it");
  command
      .add_option("--model", options.models,
                  "Model, or TorchScript archive; may be given several times (`paretopipe models` lists them)")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--input", options.input, "Shape of one sample of an archive, e.g. 3x224x224")->group(group);
  command.add_option("--cuts", options.cuts, "Where an archive can be cut: unit, all, modules or a pattern (unit)")
      ->group(group);
  command.add_option("--max-crossing", options.max_crossing, "Tensors that may cross a cut of an archive: 1 or 2 (1)")
      ->check(check_decimal)
      ->group(group);
  command.add_option("--classes", options.num_classes, "Number of classes of the model's head (10)")
      ->check(check_decimal)
      ->group(group);
  command
      .add_option("--weights", options.weights, "The model's weights: .safetensors, or .pth as torch.save writes it")
      ->group(group);
  command
      .add_option("--data", options.data,
                  "Input: fashion-mnist[:DIR], cifar10[:DIR], random, images:DIR, tensor:FILE or tokens:FILE "
                  "(fashion-mnist)")
      ->group(group);
  command
      .add_option(
          "--labels", options.labels,
          "Classes of the data's samples, for the top-1 accuracy: a file with one a line, or own (the data set's)")
      ->group(group);
}

void add_partition_options(CLI::App& command, SweepOptions& options) {
  const std::string group = "Where it is cut";
  command.add_option("--split", options.splits, "Split points of two stages: all, or a list such as 0,3-7,10")
      ->group(group);
  command.add_option("--stages", options.stages, "Stages that a model is cut into, 2 to 16 (2)")
      ->check(check_decimal)
      ->group(group);
  command
      .add_option("--partitions", options.partitions,
                  "How to cut it into them: all, split points such as 4,9,14, or a scheme (equal-load, front-load, "
                  "front-heavy, middle-load, end-load, end-heavy, equal-time); may be given several times")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--max-partitions", options.max_partitions,
                  "Of all partitions, choose so many by chance, beside the endpoints (every one)")
      ->check(check_decimal)
      ->group(group);
  command
      .add_option(
          "--baseline", options.baselines,
          "What to measure beside the partitions: single (the whole model on one device), sequential (one batch in "
          "flight, which every trial measures) or data-parallel (the whole model on as many devices as there are "
          "stages, batches dealt out in turn); may be given several times")
      ->allow_extra_args(false)
      ->group(group);
}

void add_batch_options(CLI::App& command, SweepOptions& options) {
  const std::string group = "How much is measured";
  command.add_option("--batch", options.batch, "Images per batch, or a list such as 1,8,64 (1)")->group(group);
  command
      .add_option("--micro-batch", options.micro_batches,
                  "Images per micro-batch that a batch is cut into, or a list such as 1,2,4 (the batch)")
      ->group(group);
  command.add_option("--depth", options.depth, "Batches in flight while throughput is measured, or a list (4)")
      ->group(group);
  command.add_option("--batches", options.batches, "Measured batches in each phase (32)")
      ->check(check_decimal)
      ->group(group);
  command.add_option("--warmup", options.warmup, "Batches run and dropped before each phase (4)")
      ->check(check_decimal)
      ->group(group);
  command.add_option("--seed", options.seed, "Seed of weights, random inputs and the order of trials (1)")
      ->check(check_seed)
      ->group(group);
}

void add_repeat_options(CLI::App& command, SweepOptions& options) {
  const std::string group = "How often it is measured";
  command.add_option("--repeat", options.repeat, "Trials of every split (5), or auto: as many as it takes")
      ->group(group);
  command.add_option("--precision", options.precision, "--repeat auto: half of the 95 % intervals (2 %)")->group(group);
  command.add_option("--max-repeat", options.max_repeat, "--repeat auto: the most trials of a split (20)")
      ->check(check_decimal)
      ->group(group);
  command
      .add_option("--budget", options.budget, "--repeat auto: no further round after this time, e.g. 90s (no limit)")
      ->group(group);
  command
      .add_option("--repeat-slow", options.repeat_slow,
                  "How often a trial that fell into a slow window of the machine is measured again (2)")
      ->check(check_decimal)
      ->group(group);
}

void add_network_options(CLI::App& command, SweepOptions& options) {
  const std::string group = "What lies between the stages";
  command
      .add_option("--network", options.networks,
                  "Network profile, by name or file; may be given several times (`paretopipe net show` lists them)")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--shaping", options.shaping,
                  "netem (the kernel, between network namespaces), emulated (a relay in userspace), none, or auto")
      ->group(group);
}

void add_stage_options(CLI::App& command, SweepOptions& options) {
  const std::string group = "How stages compute";
  add_compute_options(command, options.compute, group);
  command.add_option("--threads-per-stage", options.threads_per_stage, "Compute threads of each stage, or a list (1)")
      ->group(group);
  add_device_options(command, options, group);
  command.add_flag("--no-flush-denormals", options.no_flush_denormals, "Compute with denormal numbers")->group(group);
  command.add_flag("--no-malloc-tuning", options.no_malloc_tuning, "Leave glibc's malloc thresholds alone")
      ->group(group);
  command.add_flag("--active-openmp-wait", options.active_openmp_wait, "Let idle OpenMP threads spin")->group(group);
  command.add_option("--trial-timeout", options.trial_timeout_s, "Seconds after which a slow stage is given up (600)")
      ->check(check_decimal)
      ->group(group);
}

}  // namespace

void add_device_options(CLI::App& command, SweepOptions& options, const std::string& group) {
  command
      .add_option("--device", options.compute_devices,
                  "What a stage computes on: cpu, or a GPU as cuda:0; once for all stages, or once per stage (cpu)")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--cpus", options.cpus, "CPU list of a stage, e.g. 0-3; once per stage (the CPUs are dealt out)")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--placement", options.placement, "Device of each stage, e.g. 0,1,0 (each on one of its own)")
      ->group(group);
  command
      .add_option("--device-profile", options.device_profiles,
                  "Emulate a smaller device: pi, server, a file, or none; once per device (none)")
      ->allow_extra_args(false)
      ->group(group);
}

void add_sweep_options(CLI::App& command, SweepOptions& options) {
  add_model_options(command, options);
  add_partition_options(command, options);
  add_batch_options(command, options);
  add_server_options(command, options.server);
  add_repeat_options(command, options);
  add_network_options(command, options);
  add_stage_options(command, options);
  command.add_option("--out", options.out, "Folder of the records (results/NAME)");
  command
      .add_option("--against", options.against,
                  "Measure every trial with this stage program too, in turns, into OUT/base: did it get slower?")
      ->type_name("PROGRAM");
  command.add_flag("--resume", options.resume, "Continue a sweep: run what has no ok record yet");
  command.add_flag("--dry-run", options.dry_run, "Print the plan and run nothing");
}

experiment::Experiment experiment_of(const SweepOptions& options) {
  auto experiment =
      options.experiment_file.empty() ? experiment::Experiment{} : experiment::load_experiment(options.experiment_file);
  if (!options.models.empty()) experiment.models = options.models;
  override_with(experiment.input, options.input);
  override_with(experiment.cuts, options.cuts);
  override_with(experiment.max_crossing, options.max_crossing);
  override_partitions(experiment, options);
  override_with(experiment.num_classes, options.num_classes);
  if (!options.baselines.empty()) experiment.baselines = options.baselines;
  override_axes(experiment, options);
  override_with(experiment.batches, options.batches);
  override_with(experiment.warmup, options.warmup);
  override_repeat(experiment.repeat, options);
  override_load(experiment, options.server);
  override_with(experiment.seed, options.seed);
  override_with(experiment.data, options.data);
  override_with(experiment.labels, options.labels);
  override_with(experiment.weights, options.weights);
  override_compute(experiment.compute, options.compute);
  if (!options.compute_devices.empty()) experiment.compute_devices = options.compute_devices;
  override_with(experiment.repeat_slow, options.repeat_slow);
  override_with(experiment.trial_timeout_s, options.trial_timeout_s);
  if (!options.cpus.empty()) experiment.cpus = options.cpus;
  if (!options.networks.empty()) experiment.networks = options.networks;
  override_with(experiment.shaping, options.shaping);
  if (options.no_flush_denormals) experiment.tuning.flush_denormals = false;
  if (options.no_malloc_tuning) experiment.tuning.tune_malloc = false;
  if (options.active_openmp_wait) experiment.tuning.passive_openmp_wait = false;

  if (options.placement) experiment.placement = experiment::parse_placement(*options.placement);
  if (!options.device_profiles.empty()) experiment.device_profiles = options.device_profiles;
  experiment.cpus = experiment::assign_cpus(experiment, host::current_affinity());
  experiment::validate(experiment);
  return experiment;
}

}  // namespace paretopipe::cli
