#pragma once
#include <paretopipe/record/record.hpp>

#include <string>
#include <vector>

namespace paretopipe::stats {

/// What of the record's own evidence would make a trial slow, one sentence each: CPU time that other processes used on
/// a stage's CPUs, or that the host of a virtual machine took, beyond a tenth of the trial (and two ticks of the
/// kernel's clock); a core that changed its speed by more than 15 % during the trial; pages read from disk.
/// What stages of one pipeline take from each other where they share CPUs is no disturbance.
std::vector<std::string> disturbances(const record::TrialRecord& record);

}  // namespace paretopipe::stats
