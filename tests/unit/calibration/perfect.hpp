#pragma once
#include <paretopipe/analysis/calibration/data_sheet.hpp>

#include "../stats/samples.hpp"

/// Records of an instrument that is off by what a test says, and by nothing else but the microsecond that a batch of
/// regular_samples() waits for every compute thread.
namespace paretopipe::testing {

struct Offsets {
  std::int64_t compute_ns = 0;   ///< longer than the truth, of each block
  std::int64_t transfer_ns = 0;  ///< longer than the truth, forward
  std::int64_t period_ns = 0;
};

inline record::TrialRecord measured(const calibration::Cell& cell, int repetition, const Offsets& offsets,
                                    std::int64_t loopback_ns = 50'000) {
  const auto block = cell.compute.count();
  const auto serial = [](std::int64_t bytes) { return bytes * 16; };  // nanoseconds at 500 Mbit/s
  const auto travel = [&](std::int64_t bytes) { return cell.emulated ? 20'000'000 + serial(bytes) : loopback_ns; };
  record::TrialRecord record;
  record.trial = calibration::trial_of(cell, {}, {"0", "1"}, repetition);
  record.links = {{0, 1, cell.payload_bytes, 64}, {1, 0, 40, 64}};
  record.stages.resize(2);
  Durations durations{block + offsets.compute_ns, travel(cell.payload_bytes + 64) + offsets.transfer_ns,
                      block + offsets.compute_ns, travel(104)};
  durations.interval = 1'000'000'000;
  record.single_stream = regular_samples(durations, 12, 4, 1);
  durations.interval = std::max(block, cell.emulated ? serial(cell.payload_bytes + 64) : 0) + offsets.period_ns;
  record.offline = regular_samples(durations, 12, 4, 4);
  return summarised(std::move(record));
}

inline calibration::DataSheet sheet_of(const std::vector<calibration::Cell>& grid,
                                       const std::vector<record::TrialRecord>& records) {
  calibration::DataSheet sheet;
  sheet.provenance = {"0.1.0", "abcdef", {"paretopipe", "calibrate"}, "2026-01-01T00:00:00Z"};
  sheet.conditions.host.hostname = "host";
  sheet.cpus = {"0", "1"};
  sheet.cells = calibration::results_of(grid, records);
  return sheet;
}

inline std::vector<record::TrialRecord> measured_grid(const std::vector<calibration::Cell>& grid,
                                                      const Offsets& offsets = {}) {
  std::vector<record::TrialRecord> records;
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (const auto& cell : grid) records.push_back(measured(cell, repetition, offsets));
  }
  return records;
}

}  // namespace paretopipe::testing
