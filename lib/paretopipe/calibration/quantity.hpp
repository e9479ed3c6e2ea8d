#pragma once
#include <paretopipe/calibration/grid.hpp>
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace paretopipe::calibration {

/// Something that paretopipe reports of a cell, and what it ought to be.
struct Quantity {
  std::string_view name;     ///< "latency", "transfer", …
  std::string_view heading;  ///< for a narrow column
  std::string_view meaning;  ///< one line: what is measured, and what the truth is

  /// In nanoseconds: the median over the measured batches, from the record's raw samples. The record must be ok.
  double (*measured_ns)(const record::TrialRecord&);

  /// In nanoseconds, from the cell and the bytes on its links; absent where no analysis knows it: how long the bare
  /// loopback takes for a payload is a property of the machine.
  std::optional<double> (*truth_ns)(const Cell&, const record::TrialRecord&);
};

/// With t the duration of a block, d the delay, r the rate, and B the bytes of a frame, header included, each transfer
/// over the emulated network takes d + B/r (shaping/emulated_schedule.hpp); two blocks and two transfers make a
/// latency. At depth the slowest of the parts that work side by side (a stage: t; a link: B/r) sets the pace, and
/// delays only decide how many batches must be in flight (depth_of()).
std::span<const Quantity> quantities();

}  // namespace paretopipe::calibration
