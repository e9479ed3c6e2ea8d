#include <paretopipe/calibration/grid.hpp>
#include <paretopipe/core/units.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paretopipe::calibration {
namespace {

using namespace std::chrono_literals;

std::vector<Cell> grid_of(const std::vector<Nanoseconds>& computes, const std::vector<std::int64_t>& payloads) {
  std::vector<Cell> grid;
  for (const bool emulated : {false, true}) {
    for (const auto compute : computes) {
      for (const auto payload : payloads) grid.push_back({compute, payload, emulated});
    }
  }
  return grid;
}

}  // namespace

config::NetworkProfile calibration_network() {
  config::NetworkProfile network;
  network.name = "calibration";
  network.forward.delay = 20ms;
  network.forward.rate_bit_per_s = 500'000'000;
  network.backward = network.forward;
  return network;
}

std::vector<Cell> full_grid() {
  return grid_of({2ms, 5ms, 10ms}, {4'000, 200'000, 2'000'000});
}

std::vector<Cell> quick_grid() {
  return grid_of({2ms, 5ms}, {4'000, 200'000});
}

int depth_of(const Cell& cell) {
  constexpr int kLeast = 4;
  if (!cell.emulated) return kLeast;
  const auto network = calibration_network();
  const auto block = static_cast<double>(cell.compute.count());
  const auto serial =
      static_cast<double>(cell.payload_bytes) * 8e9 / static_cast<double>(*network.forward.rate_bit_per_s);
  const auto delays = static_cast<double>((network.forward.delay + network.backward.delay).count());
  return std::max(kLeast, static_cast<int>(std::ceil((2 * block + delays + serial) / std::max(block, serial))) + 2);
}

plan::Trial trial_of(const Cell& cell, const Effort& effort, const std::vector<std::string>& cpus, int repetition) {
  plan::Trial trial;
  const auto duration = cell.compute.count();
  trial.model = fmt::format("synthetic:{}ns/{},{}ns", duration, cell.payload_bytes, duration);
  trial.block_count = 2;
  trial.split_points = {1};
  trial.batches = effort.batches;
  trial.warmup = effort.warmup;
  trial.depth = depth_of(cell);
  trial.repetition = repetition;
  trial.data = "random";
  trial.cpus = cpus;
  if (cell.emulated) {
    trial.network = calibration_network();
    trial.shaping = config::Shaping::emulated;
  }
  return trial;
}

std::vector<plan::Trial> trials_of(const std::vector<Cell>& grid, const Effort& effort,
                                   const std::vector<std::string>& cpus) {
  std::vector<plan::Trial> trials;
  for (const bool emulated : {false, true}) {
    for (int repetition = 0; repetition < effort.repetitions; ++repetition) {
      for (const auto& cell : grid) {
        if (cell.emulated == emulated) trials.push_back(trial_of(cell, effort, cpus, repetition));
      }
    }
  }
  return trials;
}

std::string describe(const Cell& cell) {
  return fmt::format("{}, {} B, {}", format_duration(static_cast<double>(cell.compute.count())), cell.payload_bytes,
                     cell.emulated ? "emulated" : "loopback");
}

}  // namespace paretopipe::calibration
