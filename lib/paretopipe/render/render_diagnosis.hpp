#pragma once
#include <paretopipe/analysis/diagnosis/diagnosis.hpp>
#include <paretopipe/analysis/predict/verification.hpp>

#include <span>
#include <string>
#include <vector>

/// Renders a diagnosis for people and programs. Only wanted configurations are shown. A group's conclusion concerns all
/// its configurations and is shown only if all are wanted.
namespace paretopipe::render {

/// For a terminal, in ASCII: each group's title, then per configuration the headline, a table of its bounds (slowest
/// first) and the first five remarks, and finally the conclusion.
std::string render_text(std::span<const diagnosis::GroupDiagnosis> groups);

/// The same in GitHub's Markdown, for READMEs and pull requests, with the conclusion first.
std::string render_markdown(std::span<const diagnosis::GroupDiagnosis> groups);

/// {"schema", "groups": [{"settings", "conclusion", "configurations": [{"split_points", "bottleneck", "bound…",
/// "constraints", "stages", "links", "sentences", …}]}]}: the numbers of Demands and Constraint under their names. What
/// is unknown is absent.
///
/// `predictions` beside these measurements become "predictions": [{"made_at", "network", …}], where each has what
/// json_of(predict::Verification) has.
std::string render_json(std::span<const diagnosis::GroupDiagnosis> groups,
                        std::span<const predict::VerifiedGroup> predictions = {});

// In words, without the name of its split. Each sentence is one line of ASCII.

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
