#include <paretopipe/plan/index.hpp>
#include <paretopipe/plan/schemes.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace paretopipe::plan {
namespace {

double weight(config::Scheme scheme, int stage, int stages) {
  switch (scheme) {
    case config::Scheme::equal_load:
      return 1;
    case config::Scheme::front_load:
      return stages - stage;
    case config::Scheme::front_heavy:
      return static_cast<double>(1 << (stages - 1 - stage));
    case config::Scheme::middle_load:
      return std::min(stage + 1, stages - stage);
    case config::Scheme::end_load:
      return stage + 1;
    case config::Scheme::end_heavy:
      return static_cast<double>(1 << stage);
    case config::Scheme::equal_time:
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

/// slowest[k][b]: the least possible time of the slowest stage if the blocks from b on form k + 1 stages. until[n]: the
/// time of the first n blocks.
std::vector<std::vector<double>> least_slowest(const std::vector<double>& until, int stages) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto blocks = until.size() - 1;
  std::vector<std::vector<double>> slowest(index(stages));
  for (auto& row : slowest) row.assign(blocks + 1, kNever);
  for (std::size_t b = 0; b < blocks; ++b) slowest[0][b] = until[blocks] - until[b];
  for (std::size_t k = 1; k < slowest.size(); ++k) {
    for (std::size_t b = 0; b + k < blocks; ++b) {
      for (std::size_t cut = b + 1; cut + k <= blocks; ++cut) {
        slowest[k][b] = std::min(slowest[k][b], std::max(until[cut] - until[b], slowest[k - 1][cut]));
      }
    }
  }
  return slowest;
}

}  // namespace

SplitPoints share_blocks(config::Scheme scheme, int blocks, int stages) {
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

SplitPoints balance_times(std::span<const double> times, int stages) {
  std::vector<double> until(times.size() + 1);
  std::partial_sum(times.begin(), times.end(), until.begin() + 1);
  const auto slowest = least_slowest(until, stages);
  const double best = slowest.back()[0];
  SplitPoints cuts;
  std::size_t begin = 0;
  for (std::size_t k = slowest.size() - 1; k > 0; --k) {  // the earliest cuts that keep the best time
    std::size_t cut = begin + 1;
    while (slowest[k - 1][cut] > best) ++cut;
    cuts.push_back(static_cast<int>(cut));
    begin = cut;
  }
  return cuts;
}

}  // namespace paretopipe::plan
