#pragma once
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::run {

/// Tells trials that fell into a slow window of a shared machine from those that did not, by the probes and CPU times
/// around each trial (host::CpuConditions), never by what the trial measured: that would select results.
///
/// The probe of each core is compared with the fastest one that the sweep has seen of it. A machine that stays slow is
/// not for ever compared with what it once was: `accept` makes the speed of a trial that is kept all the same the one
/// to compare with.
class SlowWindows {
 public:
  /// Why the record's trial should be measured again, in sentences; empty where nothing speaks for it. Only records
  /// with status ok are judged.
  std::vector<std::string> judge(const record::TrialRecord& record);

  void accept(const record::TrialRecord& record);

 private:
  /// Of one core: by host and CPU list.
  std::map<std::string, std::int64_t> fastest_probe_ns_;
};

}  // namespace paretopipe::run
