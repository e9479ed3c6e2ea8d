#pragma once
#include <paretopipe/report/frontier_report.hpp>
#include <paretopipe/report/text_style.hpp>

#include <string>

namespace paretopipe::report {

/// For a terminal: per group the conclusion, a table no wider than the style's width, a scatter plot of the first two
/// objectives, what failed or cannot be compared, and what to pick; then, for groups that differ in their network only,
/// the split to pick where the network is not known, and how the frontier moves.
std::string render_text(const FrontierReport& report, const TextStyle& style);

/// One row a split, a heading with units in the names, raw numbers, empty cells for what does not exist. RFC 4180. Of
/// each objective its median, both ends of the interval, how much more it is than that of the split that beats this
/// one, and the group's reference; lists are separated by " | ".
std::string render_csv(const FrontierReport& report);

/// {"objectives", "bootstrap", "constraints", "groups": [{"settings", "conclusion", "splits", "recommendations",
/// "reference", "hypervolume", "hypervolume_share"}], "network_families"}, with raw numbers; keys that have no value
/// are absent. "behind" is how much more a split's objectives are than those of the split that beats it.
std::string render_json(const FrontierReport& report);

/// Per group a heading and tables (GitHub's dialect), for READMEs and pull requests; otherwise as for a terminal.
std::string render_markdown(const FrontierReport& report);

}  // namespace paretopipe::report
