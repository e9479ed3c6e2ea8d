#include <paretopipe/config/baseline.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/random.hpp>
#include <paretopipe/plan/partitions.hpp>
#include <paretopipe/plan/plan.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::plan {
namespace {

/// Fisher and Yates, as Durstenfeld (1964) wrote it.
void shuffle(std::vector<config::SplitPoints>& values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t remaining = values.size(); remaining > 1; --remaining) {
    std::swap(values[remaining - 1], values[draw_below(random, remaining)]);
  }
}

/// Of one repetition. It depends on nothing else, so that more models, networks or repetitions leave the order of the
/// others as it was.
std::uint64_t shuffle_seed(const config::Experiment& experiment, const std::string& model, int repetition) {
  return fnv1a64(fmt::format("{}/{}/{}", experiment.seed, model, repetition));
}

/// What all trials of a model over a network share; the axes at their first values.
Trial make_trial(const config::Experiment& experiment, const config::ModelDescription& model,
                 const config::NetworkProfile& network, config::Shaping shaping) {
  return {.model = model.model,
          .num_classes = model.archive ? Trial{}.num_classes : experiment.num_classes,
          .block_count = model.block_count(),
          .split_points = {},
          .batch = experiment.batch.first(),
          .batches = experiment.batches,
          .warmup = experiment.warmup,
          .depth = experiment.depth.first(),
          .seed = experiment.seed,
          .data = config::name_of_data(experiment.data),
          .threads_per_stage = experiment.threads_per_stage.first(),
          .cpus = experiment.cpus,
          .tuning = experiment.tuning,
          .compute = config::mode_for(experiment.compute, model.model),
          .network = network,
          .shaping = shaping,
          .archive = model.archive,
          .placement = config::simplified(experiment.placement),
          .compute_devices = config::compute_devices(experiment.compute_devices, experiment.stages)};
}

/// `trial` at every combination of the axes. The slowest to change is the one whose change costs most: other threads
/// need other processes, other batches and chunks other inputs, and another depth nothing.
std::vector<Trial> combinations(const config::Experiment& experiment, Trial trial) {
  std::vector<Trial> settings;
  for (const int threads : experiment.threads_per_stage) {
    trial.threads_per_stage = threads;
    for (const int batch : experiment.batch) {
      trial.batch = batch;
      for (const int size : config::chunk_sizes(experiment, batch)) {
        trial.micro_batch = size == batch ? 0 : size;
        for (const int depth : experiment.depth) {
          trial.depth = depth;
          settings.push_back(trial);
        }
      }
    }
  }
  return settings;
}

/// As Trial::server has them; none alone, where the experiment has no Server phase.
std::vector<std::optional<config::ServerLoad>> server_loads(const config::Experiment& experiment) {
  const auto loads = config::loads_of(experiment.server);
  if (loads.empty()) return {std::nullopt};
  return {loads.begin(), loads.end()};
}

/// Every repetition of a model over a network, at one combination of the axes and under one load.
void append_repetitions(std::vector<Trial>& trials, const config::Experiment& experiment, Trial trial,
                        const std::vector<config::SplitPoints>& partitions) {
  for (trial.repetition = 0; trial.repetition < experiment.repeat.trials; ++trial.repetition) {
    auto order = partitions;
    shuffle(order, shuffle_seed(experiment, trial.model, trial.repetition));
    for (const auto& points : order) {
      trial.split_points = points;
      trial.data_parallel = points.empty() ? experiment.stages : 0;
      trials.push_back(trial);
    }
  }
}

/// The kernel's links join neighbours in the ring, and data parallelism needs one to every device.
void check_links(const config::Experiment& experiment, const Networks& networks) {
  const auto& baselines = experiment.baselines;
  const bool deals = std::any_of(baselines.begin(), baselines.end(), [](const auto& text) {
    return config::parse_baseline(text) == config::Baseline::data_parallel;
  });
  if (!deals || experiment.stages == 2 || networks.shaping != config::Shaping::netem) return;
  throw UsageError(fmt::format(
      "the baseline data-parallel needs a link from stage 0 to each of {} devices, and the kernel's shaping "
      "has them between neighbours only; use --shaping emulated, or two stages",
      experiment.stages));
}

}  // namespace

std::vector<Trial> plan_trials(const config::Experiment& experiment,
                               const std::vector<config::ModelDescription>& models, const Networks& networks,
                               const Groundwork& groundwork) {
  if (models.size() != experiment.models.size()) throw std::invalid_argument("plan_trials: one description per model");
  check_links(experiment, networks);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto& model = models[i];
    const auto& times = groundwork.block_times;
    const auto partitions =
        times.empty() ? partitions_of(experiment, model) : partitions_of(experiment, model, times.at(i));
    for (const auto& network : networks.profiles) {
      auto trial = make_trial(experiment, model, network, networks.shaping);
      trial.weights_sha256 = groundwork.weights_sha256;
      trial.data_identity = groundwork.data_identity;
      trial.devices = groundwork.devices;
      for (auto settings : combinations(experiment, trial)) {
        for (const auto& load : server_loads(experiment)) {
          settings.server = load;
          append_repetitions(trials, experiment, settings, partitions);
        }
      }
    }
  }
  return trials;
}

}  // namespace paretopipe::plan
