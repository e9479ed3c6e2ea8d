#pragma once
#include <paretopipe/record/record.hpp>

#include <string>
#include <vector>

namespace paretopipe::stats {

/// Whether the kernel makes the stage stand still when it has had its share of CPU time: how long the probe of its core
/// took then says nothing of the core.
bool held_to_quota(const record::StageReport& stage);

/// What of the record's own evidence would make a trial slow, one sentence each: CPU time that other processes used on
/// a stage's CPUs, or that the host of a virtual machine took, beyond a tenth of the trial (and two ticks of the
/// kernel's clock); a core that changed its speed by more than 15 % during the trial; pages read from disk.
/// What stages of one pipeline take from each other where they share CPUs is no disturbance.
std::vector<std::string> disturbances(const record::TrialRecord& record);

}  // namespace paretopipe::stats
