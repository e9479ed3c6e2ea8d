#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/core/random.hpp>
#include <paretopipe/plan/plan.hpp>

#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace paretopipe::plan {
namespace {

/// Fisher and Yates, as Durstenfeld (1964) wrote it.
void shuffle(std::vector<int>& values, std::uint64_t seed) {
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

std::vector<int> splits_of(const config::SplitSelection& selection, const config::ModelDescription& model) {
  if (selection.all) {
    std::vector<int> splits(static_cast<std::size_t>(model.block_count()) + 1);
    std::iota(splits.begin(), splits.end(), 0);
    return splits;
  }
  for (const int split : selection.points) {
    if (split >= 0 && split <= model.block_count()) continue;
    throw UsageError(
        fmt::format("split point {} is outside of {}: it has split points 0 (all remote) to {} (all local)", split,
                    model.model, model.block_count()));
  }
  return selection.points;
}

/// What all trials of a model over a network share.
Trial make_trial(const config::Experiment& experiment, const config::ModelDescription& model,
                 const config::NetworkProfile& network, config::Shaping shaping) {
  return {.model = model.model,
          .num_classes = model.archive ? Trial{}.num_classes : experiment.num_classes,
          .block_count = model.block_count(),
          .split_points = {},
          .batch = experiment.batch,
          .batches = experiment.batches,
          .warmup = experiment.warmup,
          .depth = experiment.depth,
          .seed = experiment.seed,
          .data = experiment.data,
          .threads_per_stage = experiment.threads_per_stage,
          .cpus = experiment.cpus,
          .tuning = experiment.tuning,
          .network = network,
          .shaping = shaping,
          .archive = model.archive};
}

}  // namespace

std::vector<Trial> plan_trials(const config::Experiment& experiment,
                               const std::vector<config::ModelDescription>& models, const Networks& networks) {
  if (models.size() != experiment.models.size()) throw std::invalid_argument("plan_trials: one description per model");
  std::vector<Trial> trials;
  for (const auto& model : models) {
    const auto splits = splits_of(experiment.splits, model);
    for (const auto& network : networks.profiles) {
      auto trial = make_trial(experiment, model, network, networks.shaping);
      for (trial.repetition = 0; trial.repetition < experiment.repeat.trials; ++trial.repetition) {
        auto order = splits;
        shuffle(order, shuffle_seed(experiment, model.model, trial.repetition));
        for (const int split : order) {
          trial.split_points = {split};
          trials.push_back(trial);
        }
      }
    }
  }
  return trials;
}

}  // namespace paretopipe::plan
