#include <paretopipe/config/baseline.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/plan/combinations.hpp>
#include <paretopipe/plan/index.hpp>
#include <paretopipe/plan/partitions.hpp>
#include <paretopipe/plan/schemes.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <variant>

#include <fmt/format.h>

namespace paretopipe::plan {
namespace {

using config::SplitPoints;

/// A larger number of trials per repetition is a mistake or needs a choice.
constexpr std::uint64_t kMostPartitions = 1000;

void check_points(const SplitPoints& points, const config::ModelDescription& model) {
  for (const int point : points) {
    if (point >= 0 && point <= model.block_count()) continue;
    throw UsageError(
        fmt::format("split point {} is outside of {}: it has split points 0 (all remote) to {} (all local)", point,
                    model.model, model.block_count()));
  }
}

void check_blocks(const config::ModelDescription& model, int stages) {
  if (model.block_count() >= stages) return;
  throw UsageError(fmt::format("{} has {} blocks, which cannot be cut into {} stages with a block each", model.model,
                               model.block_count(), stages));
}

SplitPoints all_local(const config::Experiment& experiment, const config::ModelDescription& model) {
  return SplitPoints(index(experiment.stages - 1), model.block_count());
}

/// Places every block on the device farthest from the source: the last stage's, unless stages are placed otherwise.
SplitPoints all_remote(const config::Experiment& experiment, const config::ModelDescription& model) {
  const int farthest = config::farthest_stage(experiment.placement, experiment.stages);
  SplitPoints points(index(experiment.stages - 1), 0);
  for (int cut = farthest; cut + 1 < experiment.stages; ++cut) points[index(cut)] = model.block_count();
  return points;
}

/// Both endpoints and the cuts between them: all, or as many as the experiment allows.
std::vector<SplitPoints> widest_choice(const config::Experiment& experiment, const config::ModelDescription& model) {
  const int blocks = model.block_count();
  const auto count = count_partitions(blocks, experiment.stages);
  std::vector<SplitPoints> partitions;
  if (experiment.max_partitions > 0) {
    const auto seed = fnv1a64(fmt::format("{}/{}/partitions", experiment.seed, model.model));
    partitions = some_partitions(blocks, experiment.stages, experiment.max_partitions, seed);
  } else if (count <= kMostPartitions) {
    partitions = every_partition(blocks, experiment.stages);
  } else {
    throw UsageError(fmt::format(
        "there are {} ways to cut {} into {} stages, more than anybody would measure; choose some of them by "
        "chance with --max-partitions 100, or name schemes or split points with --partitions",
        count, model.model, experiment.stages));
  }
  partitions.push_back(all_remote(experiment, model));
  partitions.push_back(all_local(experiment, model));
  return partitions;
}

std::vector<SplitPoints> splits_of(const config::SplitSelection& selection, const config::ModelDescription& model) {
  auto points = selection.points;
  if (selection.all) {
    points.resize(index(model.block_count()) + 1);
    std::iota(points.begin(), points.end(), 0);
  }
  std::vector<SplitPoints> partitions;
  for (const int point : points) partitions.push_back({point});
  return partitions;
}

/// The baselines that have trials of their own.
std::vector<SplitPoints> baselines_of(const config::Experiment& experiment, const config::ModelDescription& model) {
  std::vector<SplitPoints> partitions;
  for (const auto& text : experiment.baselines) {
    const auto baseline = config::parse_baseline(text);
    if (baseline == config::Baseline::single) partitions.push_back(all_local(experiment, model));
    if (baseline == config::Baseline::data_parallel) partitions.emplace_back();
  }
  return partitions;
}

/// The partitions of each kind of choice.
struct Partitions {
  const config::Experiment& experiment;
  const config::ModelDescription& model;
  std::span<const double> block_times;

  std::vector<SplitPoints> operator()(const SplitPoints& points) const { return {points}; }

  std::vector<SplitPoints> operator()(config::AllPartitions) const {
    check_blocks(model, experiment.stages);
    return widest_choice(experiment, model);
  }

  std::vector<SplitPoints> operator()(config::Scheme scheme) const {
    check_blocks(model, experiment.stages);
    if (scheme == config::Scheme::equal_time) return {balance_times(block_times, experiment.stages)};
    return {share_blocks(scheme, model.block_count(), experiment.stages)};
  }
};

}  // namespace

std::vector<SplitPoints> partitions_of(const config::Experiment& experiment, const config::ModelDescription& model,
                                       std::span<const double> block_times) {
  const Partitions partitions_for{experiment, model, block_times};
  std::vector<SplitPoints> partitions;
  if (experiment.partitions.empty()) {
    partitions = experiment.stages == 2 ? splits_of(experiment.splits, model) : partitions_for(config::AllPartitions{});
  }
  for (const auto& text : experiment.partitions) {
    const auto chosen = std::visit(partitions_for, config::parse_partition(text, experiment.stages));
    partitions.insert(partitions.end(), chosen.begin(), chosen.end());
  }
  for (const auto& points : partitions) check_points(points, model);
  std::ranges::copy(baselines_of(experiment, model), std::back_inserter(partitions));
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  return partitions;
}

bool needs_block_times(const config::Experiment& experiment) {
  const auto wants = [&](const std::string& text) {
    const auto choice = config::parse_partition(text, experiment.stages);
    const auto* scheme = std::get_if<config::Scheme>(&choice);
    return scheme != nullptr && *scheme == config::Scheme::equal_time;
  };
  return std::any_of(experiment.partitions.begin(), experiment.partitions.end(), wants);
}

}  // namespace paretopipe::plan
