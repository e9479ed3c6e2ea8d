#pragma once
#include <paretopipe/core/clock.hpp>
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::calibration {

/// A synthetic model of two equal blocks with the cut between them.
struct Cell {
  Nanoseconds compute{0};          ///< of each block
  std::int64_t payload_bytes = 0;  ///< size of the tensor that crosses the cut, forward
  bool emulated = false;           ///< over calibration_network(); otherwise over the bare loopback

  bool operator==(const Cell&) const = default;
};

/// How often each cell is measured.
struct Effort {
  int batches = 32;
  int warmup = 4;
  int repetitions = 3;

  bool operator==(const Effort&) const = default;
};

/// 20 ms and 500 Mbit/s in both directions, without jitter. The delay is long enough that the lateness of the emulation
/// itself (some 100 us, from waking threads) is small beside it.
experiment::NetworkProfile calibration_network();

/// Blocks of 2, 5 and 10 ms and payloads of 4 kB, 200 kB and 2 MB, each over both networks. The loopback comes first,
/// because a change of network starts new processes.
std::vector<Cell> full_grid();

/// A grid that takes seconds: blocks of 2 and 5 ms, payloads of 4 kB and 200 kB.
std::vector<Cell> quick_grid();

/// Number of batches in flight with which the slowest part sets the pace, even though a batch is under way for much
/// longer than that part takes.
int depth_of(const Cell& cell);

/// The trial that measures the cell. `cpus` holds one list for each of the two stages. Repetitions count from 0.
experiment::Trial trial_of(const Cell& cell, const Effort& effort, const std::vector<std::string>& cpus,
                           int repetition);

/// All trials of a grid. Per network, the trials go through all cells once, then again, so that a slow spell of the
/// machine does not hit one cell alone.
std::vector<experiment::Trial> trials_of(const std::vector<Cell>& grid, const Effort& effort,
                                         const std::vector<std::string>& cpus);

/// "5 ms, 200000 B, emulated"
std::string describe(const Cell& cell);

/// A number that paretopipe reports of a cell, with its true value.
struct Quantity {
  std::string_view name;     ///< "latency", "transfer", …
  std::string_view heading;  ///< for a narrow column
  std::string_view meaning;  ///< one line: what is measured and what the truth is

  /// In nanoseconds: the median over the measured batches, computed from the record's raw samples. The record must be
  /// ok.
  double (*measured_ns)(const record::TrialRecord&);

  /// In nanoseconds, computed from the cell and the bytes on its links. Absent where no analysis gives it: the time
  /// that a payload takes over the bare loopback is a property of the machine.
  std::optional<double> (*truth_ns)(const Cell&, const record::TrialRecord&);
};

/// Let t be the duration of a block, d the delay, r the rate, and B the bytes of a frame, header included. A transfer
/// over the emulated network takes d + B/r (shaping/emulated/schedule.hpp), and a latency is two blocks and two
/// transfers. At depth, the slowest of the parts that work concurrently sets the pace (t for a stage, B/r for a link).
/// Delays only determine how many batches must be in flight (depth_of()).
std::span<const Quantity> quantities();

}  // namespace paretopipe::calibration
