#pragma once
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::run {

/// Detects trials that fell into a slow window of a shared machine, by the probes and CPU times around each trial
/// (host::CpuConditions). It never judges by the trial's measurements: that would select results.
///
/// The probe of each core is compared with the fastest one of it in the sweep. A machine that stays slow is not
/// compared with its past for ever: `accept` makes the speed of a trial that is kept anyway the new standard.
class SlowWindows {
 public:
  /// The reasons to measure the record's trial again, in sentences; empty if there are none. Only ok records are
  /// judged.
  std::vector<std::string> judge(const record::TrialRecord& record);

  void accept(const record::TrialRecord& record);

 private:
  /// For each core, by host and CPU list.
  std::map<std::string, std::int64_t> fastest_probe_ns_;
};

}  // namespace paretopipe::run
