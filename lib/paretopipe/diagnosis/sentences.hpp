#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <string>
#include <vector>

/// A diagnosis in words, without the name of its split: on one line each, ASCII.
namespace paretopipe::diagnosis {

/// What bounds a configuration, at how many images per second, how many it reached, and how many times not splitting
/// that is. Why there is nothing to say, where no repetition counts.
std::string headline(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// What else there is to say, what matters most first: what casts doubt on the numbers, what a change would bring, why
/// it is not faster than the baselines, what lies between the bound and the run. Empty where no repetition counts.
std::vector<std::string> remarks(const GroupDiagnosis& group, const ConfigurationDiagnosis& one);

/// What the group comes to: its fastest split, what bounds that, how it compares with not splitting, and how often
/// which part is the bottleneck. One paragraph; a sentence that says so where nothing was measured.
std::string conclusion(const GroupDiagnosis& group);

}  // namespace paretopipe::diagnosis
