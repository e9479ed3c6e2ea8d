#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/plan/trial.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace paretopipe::calibration {

/// A synthetic model of two equal blocks with the cut between them.
struct Cell {
  Nanoseconds compute{0};          ///< of each block
  std::int64_t payload_bytes = 0;  ///< what crosses the cut, forward
  bool emulated = false;           ///< over calibration_network(), else over the bare loopback

  bool operator==(const Cell&) const = default;
};

/// How often everything is measured.
struct Effort {
  int batches = 32;
  int warmup = 4;
  int repetitions = 3;

  bool operator==(const Effort&) const = default;
};

/// 20 ms and 500 Mbit/s in both directions, without jitter: long enough that what the emulation itself is late by, some
/// 100 us of it the waking of threads, is small beside it.
config::NetworkProfile calibration_network();

/// Blocks of 2, 5 and 10 ms, payloads of 4 kB, 200 kB and 2 MB, all of it over both networks; the loopback first, for
/// a change of network starts new processes.
std::vector<Cell> full_grid();

/// 2 and 5 ms, 4 kB and 200 kB: a look that takes seconds.
std::vector<Cell> quick_grid();

/// Batches in flight that are enough for the slowest part to set the pace at depth, though a batch is under way for
/// much longer than that part takes for it.
int depth_of(const Cell& cell);

/// The trial that measures the cell. `cpus`: one list for each of the two stages. Repetitions count from 0.
plan::Trial trial_of(const Cell& cell, const Effort& effort, const std::vector<std::string>& cpus, int repetition);

/// All trials of a grid: of each network, all cells once, then again, so that a slow spell hits no cell alone.
std::vector<plan::Trial> trials_of(const std::vector<Cell>& grid, const Effort& effort,
                                   const std::vector<std::string>& cpus);

/// "5 ms, 200000 B, emulated"
std::string describe(const Cell& cell);

}  // namespace paretopipe::calibration
