#include <paretopipe/analysis/calibration/grid.hpp>

#include <set>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::calibration;

TEST_CASE("every cell is measured in every repetition, and each network is set up once") {
  const auto grid = GENERATE(full_grid(), quick_grid());
  Effort effort;
  effort.repetitions = 2;
  const auto trials = trials_of(grid, effort, {"0", "1"});
  CHECK(trials.size() == 2 * grid.size());
  std::set<std::string> ids;
  int changes = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    ids.insert(trials[i].id());
    changes += i > 0 && trials[i].network != trials[i - 1].network ? 1 : 0;
    CHECK((trials[i].shaping == experiment::Shaping::emulated) == trials[i].network.shaped());
  }
  CHECK(ids.size() == trials.size());
  CHECK(changes == 1);
}

TEST_CASE("the grid has short and long blocks, small and large payloads, on both networks") {
  CHECK(full_grid().size() == 18);
  CHECK(quick_grid().size() == 8);
  const auto trial = trial_of({std::chrono::milliseconds(5), 200'000, true}, {}, {"0", "1"}, 2);
  CHECK(trial.model == "synthetic:5000000ns/200000,5000000ns");
  CHECK(trial.repetition == 2);
  CHECK(trial.network == calibration_network());
}

TEST_CASE("enough batches are in flight that delays do not set the pace") {
  for (const auto& cell : full_grid()) {
    const auto network = calibration_network().forward;
    const double serial =
        cell.emulated ? static_cast<double>(cell.payload_bytes) * 8e9 / static_cast<double>(*network.rate_bit_per_s)
                      : 0;
    const auto block = static_cast<double>(cell.compute.count());
    const double latency = 2 * block + serial + (cell.emulated ? 2 * static_cast<double>(network.delay.count()) : 0);
    CHECK(trial_of(cell, {}, {}, 0).depth > latency / std::max(block, serial));
    CHECK(depth_of(cell) <= 32);
  }
}
