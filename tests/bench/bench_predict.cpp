// How long the exact frontier takes: over all partitions of a model of 500 blocks into 8 stages, and over all 720
// orders of 6 devices at 100 blocks. The models are like real ones: what crosses a cut shrinks along the model, and a
// run of blocks takes about the sum of its blocks.
#include <paretopipe/analysis/predict/exact_frontier.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>

#include <random>
#include <vector>

#include "report.hpp"

namespace {

using namespace paretopipe;

constexpr int kRounds = 5;

/// `slowness` times 0.5 to 1.5 ms a block, and up to 3 % of a run more or less.
predict::StageTimes draw_times(std::mt19937_64& random, int blocks, double slowness) {
  std::uniform_real_distribution<double> block_ns(0.5e6, 1.5e6), stray(0.97, 1.03);
  std::vector<double> until(1, 0.0);
  for (int i = 0; i < blocks; ++i) until.push_back(until.back() + slowness * block_ns(random));
  predict::StageTimes times(blocks);
  for (int begin = 0; begin < blocks; ++begin) {
    for (int end = begin + 1; end <= blocks; ++end) {
      const auto sum = until[static_cast<std::size_t>(end)] - until[static_cast<std::size_t>(begin)];
      times.set(begin, end, static_cast<std::int64_t>(sum * stray(random)));
    }
  }
  return times;
}

predict::LinkTimes draw_link(std::mt19937_64& random, int blocks) {
  std::uniform_real_distribution<double> share(0.2, 1.8);
  predict::LinkTimes link;
  for (int cut = 0; cut <= blocks; ++cut) {
    const double left = 1.0 - 0.9 * cut / blocks;
    link.busy_ns.push_back(static_cast<std::int64_t>(blocks * 0.25e6 * left * share(random)));
    link.latency_ns.push_back(link.busy_ns.back() + 1'000'000);
  }
  return link;
}

template <class Solve>
void time_solves(const char* what, double most_s, const Solve& solve) {
  std::vector<double> seconds;
  std::size_t points = 0;
  for (int i = 0; i < kRounds; ++i) {
    seconds.push_back(bench::seconds_of([&] { points = solve().size(); }));
  }
  const double median = *stats::median(seconds);
  bench::print_row(fmt::format("{}, {} points", what, points), fmt::format("{:.1f} ms", median * 1e3),
                   fmt::format("below {:.0f} ms", most_s * 1e3), median < most_s);
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  std::vector<predict::StageTimes> alike, different;
  const auto times = draw_times(random, 500, 1);
  for (int device = 0; device < 8; ++device) {
    alike.push_back(times);
    different.push_back(draw_times(random, 500, 1 + device % 4));
  }
  const std::vector<predict::LinkTimes> links(8, draw_link(random, 500));
  time_solves("the frontier of 500 blocks on 8 devices of one kind", 0.05,
              [&] { return predict::frontier_in_order(alike, links); });
  time_solves("the frontier of 500 blocks on 8 devices of several kinds", 0.05,
              [&] { return predict::frontier_in_order(different, links); });
  std::vector<predict::StageTimes> six;
  for (int device = 0; device < 6; ++device) six.push_back(draw_times(random, 100, 1 + device));
  const auto link = draw_link(random, 100);
  time_solves("the frontier over all 720 orders of 6 devices, 100 blocks", 1,
              [&] { return predict::frontier_in_any_order(six, 6, link); });
}
