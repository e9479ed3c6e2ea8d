#include <paretopipe/core/error.hpp>
#include <paretopipe/core/hash.hpp>
#include <paretopipe/experiment/partitions.hpp>
#include <paretopipe/experiment/scenario.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace paretopipe::experiment {

namespace {

/// Advances to the next partition in lexicographic order: ascending cuts out of 1 … blocks − 1. False after the last
/// one.
bool advance(SplitPoints& cuts, int blocks) {
  const int count = static_cast<int>(cuts.size());
  for (int i = count - 1; i >= 0; --i) {
    if (cuts[index(i)] == blocks - count + i) continue;
    std::iota(cuts.begin() + i, cuts.end(), cuts[index(i)] + 1);
    return true;
  }
  return false;
}

/// Draws `stages` − 1 different places out of `blocks` − 1; every set is equally likely (Floyd, 1987).
SplitPoints draw_partition(std::mt19937_64& random, int blocks, int stages) {
  std::set<int> cuts;
  for (int top = blocks - stages + 1; top < blocks; ++top) {
    const int cut = 1 + static_cast<int>(draw_below(random, static_cast<std::uint64_t>(top)));
    if (!cuts.insert(cut).second) cuts.insert(top);
  }
  return {cuts.begin(), cuts.end()};
}

}  // namespace

std::uint64_t count_partitions(int blocks, int stages) {
  if (blocks < stages) return 0;
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t count = 1;
  for (int i = 1; i < stages; ++i) {
    const auto factor = static_cast<std::uint64_t>(blocks - i);
    if (count > kMost / factor) return kMost;
    count = count * factor / static_cast<std::uint64_t>(i);
  }
  return count;
}

std::vector<SplitPoints> every_partition(int blocks, int stages) {
  std::vector<SplitPoints> partitions;
  if (blocks < stages) return partitions;
  SplitPoints cuts(index(stages - 1));
  std::iota(cuts.begin(), cuts.end(), 1);
  do {
    partitions.push_back(cuts);
  } while (advance(cuts, blocks));
  return partitions;
}

std::vector<SplitPoints> some_partitions(int blocks, int stages, int count, std::uint64_t seed) {
  const auto wanted = static_cast<std::uint64_t>(count);
  const auto all = count_partitions(blocks, stages);
  if (wanted >= all) return every_partition(blocks, stages);
  std::mt19937_64 random(seed);
  std::set<SplitPoints> chosen;
  if (wanted > all / 2) {  // drawing would mostly repeat earlier draws
    auto partitions = every_partition(blocks, stages);
    for (std::size_t i = 0; i < wanted; ++i) {
      std::swap(partitions[i], partitions[i + draw_below(random, partitions.size() - i)]);
    }
    chosen.insert(partitions.begin(), partitions.begin() + count);
  }
  while (chosen.size() < wanted) chosen.insert(draw_partition(random, blocks, stages));
  return {chosen.begin(), chosen.end()};
}

namespace {

double weight(Scheme scheme, int stage, int stages) {
  switch (scheme) {
    case Scheme::equal_load:
      return 1;
    case Scheme::front_load:
      return stages - stage;
    case Scheme::front_heavy:
      return static_cast<double>(1 << (stages - 1 - stage));
    case Scheme::middle_load:
      return std::min(stage + 1, stages - stage);
    case Scheme::end_load:
      return stage + 1;
    case Scheme::end_heavy:
      return static_cast<double>(1 << stage);
    case Scheme::equal_time:
      break;
  }
  throw std::logic_error("this scheme does not go by the number of blocks");
}

/// The end of each stage except the last.
SplitPoints cuts_after(const std::vector<int>& sizes) {
  SplitPoints cuts(sizes.size());
  std::partial_sum(sizes.begin(), sizes.end(), cuts.begin());
  cuts.pop_back();
  return cuts;
}

}  // namespace

SplitPoints share_blocks(Scheme scheme, int blocks, int stages) {
  std::vector<int> sizes(index(stages), 1);
  for (int left = blocks - stages; left > 0; --left) {
    const auto claim = [&](int stage) { return weight(scheme, stage, stages) / (2 * sizes[index(stage)] + 1); };
    int first = 0;
    for (int stage = 1; stage < stages; ++stage) {
      if (claim(stage) > claim(first)) first = stage;
    }
    ++sizes[index(first)];
  }
  return cuts_after(sizes);
}

namespace {

/// A larger number of trials per repetition is a mistake or needs a choice.
constexpr std::uint64_t kMostPartitions = 1000;
/// The same where predictions choose.
constexpr std::uint64_t kMostPredicted = 100'000;

void check_points(const SplitPoints& points, const ModelDescription& model) {
  for (const int point : points) {
    if (point >= 0 && point <= model.block_count()) continue;
    throw UsageError(
        fmt::format("split point {} is outside of {}: it has split points 0 (all remote) to {} (all local)", point,
                    model.model, model.block_count()));
  }
}

void check_blocks(const ModelDescription& model, int stages) {
  if (model.block_count() >= stages) return;
  throw UsageError(fmt::format("{} has {} blocks, which cannot be cut into {} stages with a block each", model.model,
                               model.block_count(), stages));
}

SplitPoints all_local(const Experiment& experiment, const ModelDescription& model) {
  return SplitPoints(index(experiment.stages - 1), model.block_count());
}

/// Places every block on the device farthest from the source: the last stage's, unless stages are placed otherwise.
SplitPoints all_remote(const Experiment& experiment, const ModelDescription& model) {
  const int farthest = farthest_stage(experiment.placement, experiment.stages);
  SplitPoints points(index(experiment.stages - 1), 0);
  for (int cut = farthest; cut + 1 < experiment.stages; ++cut) points[index(cut)] = model.block_count();
  return points;
}

/// Both endpoints and the cuts between them: all, or as many as the experiment allows.
std::vector<SplitPoints> widest_choice(const Experiment& experiment, const ModelDescription& model,
                                       std::uint64_t most) {
  const int blocks = model.block_count();
  const auto count = count_partitions(blocks, experiment.stages);
  std::vector<SplitPoints> partitions;
  if (experiment.max_partitions > 0) {
    const auto seed = fnv1a64(fmt::format("{}/{}/partitions", experiment.seed, model.model));
    partitions = some_partitions(blocks, experiment.stages, experiment.max_partitions, seed);
  } else if (count <= most) {
    partitions = every_partition(blocks, experiment.stages);
  } else {
    throw UsageError(fmt::format(
        "there are {} ways to cut {} into {} stages, more than anybody would measure; choose some of them by "
        "chance with --max-partitions 100, let predictions choose with --partitions best, or name schemes or split "
        "points with --partitions",
        count, model.model, experiment.stages));
  }
  partitions.push_back(all_remote(experiment, model));
  partitions.push_back(all_local(experiment, model));
  return partitions;
}

std::vector<SplitPoints> splits_of(const SplitSelection& selection, const ModelDescription& model) {
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
std::vector<SplitPoints> baselines_of(const Experiment& experiment, const ModelDescription& model) {
  std::vector<SplitPoints> partitions;
  for (const auto& text : experiment.baselines) {
    const auto baseline = parse_baseline(text);
    if (baseline == Baseline::single) partitions.push_back(all_local(experiment, model));
    if (baseline == Baseline::data_parallel) partitions.emplace_back();
  }
  return partitions;
}

/// The partitions of each kind of choice.
struct Partitions {
  const Experiment& experiment;
  const ModelDescription& model;
  const SplitPoints& equal_time;

  std::vector<SplitPoints> operator()(const SplitPoints& points) const { return {points}; }

  std::vector<SplitPoints> operator()(AllPartitions all) const {
    check_blocks(model, experiment.stages);
    return widest_choice(experiment, model, all.best ? kMostPredicted : kMostPartitions);
  }

  std::vector<SplitPoints> operator()(Scheme scheme) const {
    check_blocks(model, experiment.stages);
    if (scheme == Scheme::equal_time) {
      if (equal_time.empty()) throw std::logic_error("the partition of equal-time was not measured");
      return {equal_time};
    }
    return {share_blocks(scheme, model.block_count(), experiment.stages)};
  }
};

}  // namespace

std::vector<SplitPoints> partitions_of(const Experiment& experiment, const ModelDescription& model,
                                       const SplitPoints& equal_time) {
  const Partitions partitions_for{experiment, model, equal_time};
  std::vector<SplitPoints> partitions;
  if (experiment.partitions.empty()) {
    partitions = experiment.stages == 2 ? splits_of(experiment.splits, model) : partitions_for(AllPartitions{});
  }
  for (const auto& text : experiment.partitions) {
    const auto chosen = std::visit(partitions_for, parse_partition(text, experiment.stages));
    partitions.insert(partitions.end(), chosen.begin(), chosen.end());
  }
  for (const auto& points : partitions) check_points(points, model);
  std::ranges::copy(baselines_of(experiment, model), std::back_inserter(partitions));
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  return partitions;
}

bool wants_best(const Experiment& experiment) {
  const auto best = [&](const std::string& text) {
    return parse_partition(text, experiment.stages) == PartitionChoice(AllPartitions{.best = true});
  };
  const auto count = std::count_if(experiment.partitions.begin(), experiment.partitions.end(), best);
  if (count == 0 || experiment.partitions.size() == 1) return count > 0;
  throw UsageError("--partitions best chooses among all partitions by predictions; leave the other --partitions out");
}

bool wants_equal_time(const Experiment& experiment) {
  const auto wants = [&](const std::string& text) {
    const auto choice = parse_partition(text, experiment.stages);
    const auto* scheme = std::get_if<Scheme>(&choice);
    return scheme != nullptr && *scheme == Scheme::equal_time;
  };
  return std::any_of(experiment.partitions.begin(), experiment.partitions.end(), wants);
}

}  // namespace paretopipe::experiment
