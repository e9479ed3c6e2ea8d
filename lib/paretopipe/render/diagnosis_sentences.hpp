#pragma once
#include <paretopipe/analysis/diagnosis/diagnosis.hpp>

#include <string>
#include <vector>

/// A diagnosis in words, without the name of its split. Each sentence is one line of ASCII.
namespace paretopipe::render {

/// What bounds a configuration and at how many images per second, how many it reached, and the ratio to not splitting.
/// If no repetition counts, says why there is nothing to say.
std::string headline(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one);

/// Further remarks, the most important first: what casts doubt on the numbers, what a change would bring, why it is not
/// faster than the baselines, what explains the gap between the bound and the run. Empty if no repetition counts.
std::vector<std::string> remarks(const diagnosis::GroupDiagnosis& group, const diagnosis::ConfigurationDiagnosis& one);

/// The group's conclusion in one paragraph: its fastest split, what bounds it, how it compares with not splitting, and
/// how often each part is the bottleneck. If nothing was measured, it says so.
std::string conclusion(const diagnosis::GroupDiagnosis& group);

}  // namespace paretopipe::render
