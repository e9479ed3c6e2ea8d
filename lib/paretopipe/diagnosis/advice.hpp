#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <string>
#include <vector>

namespace paretopipe::diagnosis {

/// What a change would bring to a configuration that has demands, one sentence each: only what follows from its numbers
/// or was measured with other splits of its group, which is `one`'s.
std::vector<std::string> advice(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

}  // namespace paretopipe::diagnosis
