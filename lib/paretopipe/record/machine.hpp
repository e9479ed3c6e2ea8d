#pragma once
#include <paretopipe/record/record.hpp>

#include <string>
#include <vector>

namespace paretopipe::record {

/// "pi (Cortex-A72, 4 CPUs)": what tells one machine from another.
std::string machine_of(const host::HostContext& host);

/// The machines that a record's stages ran on, each once, in the order of the stages. Empty for a record whose stages
/// report nothing, such as one that failed at launch. Records of the same machine give the same text; it is up to the
/// owner that two machines have different names.
std::vector<std::string> machines_of(const TrialRecord& record);

}  // namespace paretopipe::record
