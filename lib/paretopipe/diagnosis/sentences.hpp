#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <string>
#include <vector>

namespace paretopipe::diagnosis {

/// A configuration's diagnosis for a person, without the name of its split: the bottleneck with the number that shows
/// it, the bound and how near the run came, what lies between them, what a change would bring, how it compares with not
/// splitting, and what casts doubt on it. One sentence that says why, where no repetition counts. On one line each,
/// ASCII.
std::vector<std::string> sentences(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// What the group comes to: its fastest split, what bounds that, how it compares with not splitting, and how often
/// which part is the bottleneck. One paragraph; a sentence that says so where nothing was measured.
std::string conclusion(const GroupDiagnosis& group);

}  // namespace paretopipe::diagnosis
