#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <string>
#include <vector>

namespace paretopipe::diagnosis {

/// A configuration that has demands against "do not split", in sentences: how much faster or slower it is, why it is
/// not faster, and where the difference in latency comes from. Empty for that baseline itself, and where it was not
/// measured.
std::vector<std::string> against_all_local(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// A configuration that has demands against data parallelism on as many devices, in a sentence; empty where that was
/// not measured.
std::string against_data_parallel(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// What data parallelism itself reaches, and that nothing more is said of it. It must have a result that counts.
std::vector<std::string> describe_data_parallel(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// A configuration that has demands against the same stages with one batch in flight, in a sentence; empty where no
/// more were in flight.
std::string against_sequential(const ConfigurationDiagnosis& one);

}  // namespace paretopipe::diagnosis
