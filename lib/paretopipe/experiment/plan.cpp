#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/codecs.hpp>
#include <paretopipe/experiment/partitions.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/experiment/scenario.hpp>
#include <paretopipe/experiment/settings.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::experiment {

namespace {

/// The random numbers of one repetition for the purpose `what`; empty: the order of the splits. They depend on nothing
/// else, so more models or repetitions leave the other orders as they are.
std::mt19937_64 random_of(const Experiment& experiment, const std::string& model, int repetition,
                          const char* what = "") {
  return std::mt19937_64(fnv1a64(fmt::format("{}/{}/{}{}", experiment.seed, model, repetition, what)));
}

/// The fields of a trial that settings decide for all trials of an experiment alike.
Trial common_trial(const Experiment& experiment) {
  Trial trial;
  for (const auto& setting : settings()) {
    if (setting.trial.decide) setting.trial.decide(experiment, trial);
  }
  return trial;
}

/// The common part of all trials of a model, with each axis at its first value.
Trial make_trial(const Experiment& experiment, const ModelDescription& model, Shaping shaping,
                 const PlanInputs& inputs) {
  auto trial = common_trial(experiment);
  static_cast<UncutTrial&>(trial) = uncut_trial(experiment, {model.model, {}, model.archive}, shaping, inputs);
  trial.block_count = model.block_count();
  return trial;
}

/// One setting of a trial: each choice applies one value of it.
using Choices = std::vector<std::function<void(Trial&)>>;

/// The batch sizes, each with all its micro-batch sizes.
Choices batch_axis(const Experiment& experiment) {
  Choices axis;
  for (const int batch : experiment.batch) {
    for (const int size : micro_batch_sizes(experiment, batch)) {
      axis.emplace_back([=](Trial& trial) {
        trial.batch = batch;
        trial.micro_batch = size == batch ? 0 : size;
      });
    }
  }
  return axis;
}

/// How the trials train: one choice for each schedule. Without training, one choice that changes nothing.
Choices training_axis(const Experiment& experiment) {
  Choices axis;
  const auto& asked = experiment.training;
  for (const auto& schedule : asked.schedules) {
    if (experiment.task != Task::train) break;
    const Training training{parse_schedule(schedule), asked.optimizer, asked.recompute, asked.loss_sum};
    axis.emplace_back([=](Trial& trial) {
      trial.phases = Phases::training;
      trial.training = training;
    });
  }
  if (axis.empty()) axis.emplace_back([](Trial&) {});
  return axis;
}

/// The axes in descending cost of a change: other threads need other processes, another network has to be applied and
/// probed, other batches and micro-batches need other inputs; another depth or load needs nothing.
std::vector<Choices> axes_of(const Experiment& experiment, const Networks& networks) {
  Choices threads, profiles, depths, loads;
  for (const int count : experiment.threads_per_stage) {
    threads.emplace_back([=](Trial& trial) { trial.threads_per_stage = count; });
  }
  for (const auto& profile : networks.profiles) {
    profiles.emplace_back([&profile](Trial& trial) { trial.network = profile; });
  }
  for (const auto& load : loads_of(experiment.server)) {
    loads.emplace_back([=](Trial& trial) { trial.server = load; });
  }
  // With one batch in flight all the time, trials of different depths would be the same.
  const bool alone = (experiment.task == Task::train || !has_offline(experiment.phases)) && loads.empty();
  for (const int depth : experiment.depth) {
    depths.emplace_back([=](Trial& trial) { trial.depth = alone ? 1 : depth; });
  }
  if (loads.empty()) loads.emplace_back([](Trial&) {});  // no Server phase
  return {std::move(threads),        std::move(profiles), batch_axis(experiment),
          training_axis(experiment), std::move(depths),   std::move(loads)};
}

/// Runs through every combination of the axes, one repetition after the other.
class Tour {
 public:
  explicit Tour(std::vector<Choices> axes) : axes_(std::move(axes)), current_(axes_.size()) {}

  /// `trial` at every combination. The first repetition visits them as the experiment lists them, because tables show
  /// groups in the order of their first trials. Later ones have orders of their own. The axis that costs most to change
  /// is changed least often, and begins with its last value of the repetition before. No other varying axis may do so:
  /// one of two values that is visited an even number of times would begin every repetition with the same value.
  std::vector<Trial> repetition(Trial trial, std::mt19937_64 random) {
    const auto varies = [](const Choices& axis) { return axis.size() > 1; };
    const auto slowest = std::find_if(axes_.begin(), axes_.end(), varies) - axes_.begin();
    for (auto level = static_cast<std::size_t>(slowest) + 1; level < current_.size(); ++level) current_[level].reset();
    std::vector<Trial> settings;
    visit(0, trial, random, settings);
    return settings;
  }

 private:
  void visit(std::size_t level, Trial& trial, std::mt19937_64& random, std::vector<Trial>& settings) {
    if (level == axes_.size()) {
      settings.push_back(trial);
      return;
    }
    std::vector<std::size_t> order(axes_[level].size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (trial.repetition > 0) shuffle(order, random);
    auto& current = current_[level];
    if (current) std::iter_swap(order.begin(), std::find(order.begin(), order.end(), *current));
    for (const auto choice : order) {
      axes_[level][choice](trial);
      current = choice;
      visit(level + 1, trial, random, settings);
    }
  }

  std::vector<Choices> axes_;
  std::vector<std::optional<std::size_t>> current_;  ///< the last value of each axis
};

/// The codecs that a partition is measured with. They name one for the input, too, where it crosses a cut.
std::vector<std::string> codecs_of(const Experiment& experiment, const SplitPoints& points) {
  if (points.front() > 0 || experiment.codec_inputs.empty()) return experiment.codecs;
  std::vector<std::string> codecs;
  for (const auto& codec : experiment.codecs) {
    for (const auto& input : experiment.codec_inputs) {
      auto both = with_input_codec(codec, input, points);
      if (std::find(codecs.begin(), codecs.end(), both) == codecs.end()) codecs.push_back(std::move(both));
    }
  }
  return codecs;
}

/// Each partition with each codec. Without split points, batches are dealt out as they are; if all is local, nothing
/// crosses a cut. Both are measured once, without a codec.
std::vector<Cut> cuts_of(const Experiment& experiment, const ModelDescription& model,
                         const std::vector<SplitPoints>& partitions) {
  std::vector<Cut> cuts;
  for (const auto& points : partitions) {
    if (points.empty() || points.front() == model.block_count()) {
      cuts.push_back({points});
    } else {
      for (auto& codec : codecs_of(experiment, points)) cuts.push_back({points, std::move(codec)});
    }
  }
  return cuts;
}

void append_cuts(std::vector<Trial>& trials, Trial trial, const std::vector<Cut>& order, int devices) {
  for (const auto& cut : order) {
    trial.split_points = cut.split_points;
    trial.codec = cut.codec;
    trial.data_parallel = cut.split_points.empty() ? devices : 0;
    trials.push_back(trial);
  }
}

/// The kernel's links join neighbours in the ring only; data parallelism needs one to every device.
void check_links(const Experiment& experiment, const Networks& networks) {
  const auto& baselines = experiment.baselines;
  const bool deals = std::any_of(baselines.begin(), baselines.end(),
                                 [](const auto& text) { return parse_baseline(text) == Baseline::data_parallel; });
  const bool trains_replicas = deals && experiment.task == Task::train;
  if (trains_replicas && !experiment.on.empty() && networks.shaping != Shaping::none) {
    throw UsageError(
        "the baseline data-parallel adds up gradients over connections of Gloo, which no network between devices is "
        "put onto; leave --network or the baseline out");
  }
  if (trains_replicas && networks.shaping == Shaping::emulated) {
    throw UsageError(
        "the baseline data-parallel adds up gradients over connections of Gloo, which do not lead through emulated "
        "networks; use --shaping netem with two stages, or leave the baseline out");
  }
  if (!deals || experiment.stages == 2 || networks.shaping != Shaping::netem) return;
  throw UsageError(fmt::format(
      "the baseline data-parallel needs a link from stage 0 to each of {} devices, and the kernel's shaping "
      "has them between neighbours only; use --shaping emulated, or two stages",
      experiment.stages));
}

/// The threads of each stage's device, 0 where it says none; empty if no device says any.
std::vector<int> threads_of(const std::vector<Device>& devices) {
  std::vector<int> threads;
  for (const auto& device : devices) threads.push_back(device.threads.value_or(0));
  const bool any = std::any_of(threads.begin(), threads.end(), [](int count) { return count > 0; });
  return any ? threads : std::vector<int>{};
}

}  // namespace

UncutTrial uncut_trial(const Experiment& experiment, const ModelSource& model, Shaping shaping,
                       const PlanInputs& inputs) {
  UncutTrial trial = common_trial(experiment);
  trial.model = model.name;
  if (model.archive) trial.num_classes = UncutTrial{}.num_classes;
  trial.data = name_of_data(experiment.data);
  trial.weights_sha256 = inputs.weights_sha256;
  trial.tuning = experiment.tuning;
  trial.compute = experiment.task == Task::train ? ComputeMode{} : mode_for(experiment.compute, model.name);
  trial.shaping = shaping;
  trial.archive = model.archive;
  if (trial.archive) trial.archive->trained = experiment.task == Task::train;
  trial.data_identity = inputs.data_identity;
  trial.placement = simplified(experiment.placement);
  trial.devices = inputs.devices;
  trial.compute_devices = compute_devices(experiment.compute_devices, experiment.stages);
  trial.stage_threads = threads_of(inputs.on);
  return trial;
}

std::vector<Trial> plan_trials(const Experiment& experiment, const std::vector<ModelDescription>& models,
                               const Networks& networks, const PlanInputs& inputs) {
  if (models.size() != experiment.models.size()) throw std::invalid_argument("plan_trials: one description per model");
  check_links(experiment, networks);
  const int devices = device_count(experiment.placement, experiment.stages);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto& model = models[i];
    const auto& equal_time = inputs.equal_time;
    const auto partitions = partitions_of(experiment, model, equal_time.empty() ? SplitPoints() : equal_time.at(i));
    const auto cuts = cuts_of(experiment, model, partitions);
    auto trial = make_trial(experiment, model, networks.shaping, inputs);
    Tour tour(axes_of(experiment, networks));
    for (trial.repetition = 0; trial.repetition < experiment.repeat.trials; ++trial.repetition) {
      auto order = cuts;
      auto random = random_of(experiment, model.model, trial.repetition);
      shuffle(order, random);
      const auto settings = tour.repetition(trial, random_of(experiment, model.model, trial.repetition, "/settings"));
      for (const auto& setting : settings) append_cuts(trials, setting, order, devices);
    }
  }
  return trials;
}

std::vector<std::int64_t> poisson_arrivals(double rate_per_s, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> arrivals;
  arrivals.reserve(static_cast<std::size_t>(count));
  double mean_gaps = 0;  // since the beginning
  while (static_cast<int>(arrivals.size()) < count) {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;  // [0, 1), with all bits of a double
    mean_gaps -= std::log1p(-uniform);
    arrivals.push_back(std::llround(mean_gaps * 1e9 / rate_per_s));
  }
  return arrivals;
}

std::uint64_t arrivals_seed(const Trial& trial) {
  return fnv1a64(fmt::format("{}/{}/arrivals", trial.seed, trial.repetition));
}

}  // namespace paretopipe::experiment
