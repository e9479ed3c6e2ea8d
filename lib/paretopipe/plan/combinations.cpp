#include <paretopipe/core/random.hpp>
#include <paretopipe/plan/combinations.hpp>
#include <paretopipe/plan/index.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace paretopipe::plan {
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

}  // namespace paretopipe::plan
