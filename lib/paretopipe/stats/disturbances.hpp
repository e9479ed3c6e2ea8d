#pragma once
#include <paretopipe/record/record.hpp>

#include <string>
#include <vector>

namespace paretopipe::stats {

/// Whether the kernel suspends the stage when it has used its quota of CPU time. The probe's time then says nothing
/// about the core.
bool held_to_quota(const record::StageReport& stage);

/// The findings of the record's own evidence that would make a trial slow, one sentence each: CPU time that other
/// processes used on a stage's CPUs, or that the host of a virtual machine took, beyond a tenth of the trial (and two
/// ticks of the kernel's clock); a core whose speed changed by more than 15 % during the trial; pages read from disk.
/// What stages of one pipeline take from each other on shared CPUs is no disturbance.
std::vector<std::string> disturbances(const record::TrialRecord& record);

}  // namespace paretopipe::stats
