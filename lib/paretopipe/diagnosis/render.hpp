#pragma once
#include <paretopipe/diagnosis/diagnosis.hpp>

#include <span>
#include <string>

/// A diagnosis as people and programs read it. Only wanted configurations are shown; a group's conclusion, which is of
/// all its configurations, only where all of them are.
namespace paretopipe::diagnosis {

/// For a terminal: a group's title; of each configuration the headline, a table of what can bound it, slowest first,
/// and the first five remarks; the conclusion. ASCII.
std::string render_text(std::span<const GroupDiagnosis> groups);

/// The same in GitHub's Markdown, for READMEs and pull requests, with the conclusion first.
std::string render_markdown(std::span<const GroupDiagnosis> groups);

/// {"schema", "groups": [{"settings", "conclusion", "configurations": [{"split_points", "bottleneck", "bound…",
/// "constraints", "stages", "links", "sentences", …}]}]}: the numbers of Demands and Constraint under their names;
/// what is not known is absent.
std::string render_json(std::span<const GroupDiagnosis> groups);

}  // namespace paretopipe::diagnosis
