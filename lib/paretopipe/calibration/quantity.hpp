#pragma once
#include <paretopipe/calibration/grid.hpp>
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace paretopipe::calibration {

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
/// over the emulated network takes d + B/r (shaping/emulated_schedule.hpp), and a latency is two blocks and two
/// transfers. At depth, the slowest of the parts that work concurrently sets the pace (t for a stage, B/r for a link).
/// Delays only determine how many batches must be in flight (depth_of()).
std::span<const Quantity> quantities();

}  // namespace paretopipe::calibration
