#pragma once
#include <paretopipe/analysis/diagnosis/diagnosis.hpp>

#include <span>
#include <string>

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
std::string render_json(std::span<const diagnosis::GroupDiagnosis> groups);

}  // namespace paretopipe::render
