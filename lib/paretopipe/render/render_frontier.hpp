#pragma once
#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/render/table.hpp>

#include <string>

namespace paretopipe::render {

/// For a terminal. Each group has its conclusion, a table no wider than the style's width, a scatter plot of the first
/// two objectives, what failed or cannot be compared, and the recommendations. Then, for groups that differ only in
/// their network: the split to pick for an unknown network, and how the frontier moves.
std::string render_text(const frontier::FrontierReport& report, const TextStyle& style);

/// One row per split, a heading with units in the names, raw numbers, empty cells for missing values. RFC 4180. Each
/// objective has its median, both ends of the interval, its excess over the split that beats this one, and the group's
/// reference. Lists are separated by " | ".
std::string render_csv(const frontier::FrontierReport& report);

/// {"objectives", "bootstrap", "constraints", "groups": [{"settings", "conclusion", "splits", "recommendations",
/// "reference", "hypervolume", "hypervolume_share"}], "network_families"}, with raw numbers; keys without a value are
/// absent. "behind" is the excess of a split's objectives over those of the split that beats it.
std::string render_json(const frontier::FrontierReport& report);

/// A heading and tables for each group (GitHub's dialect), for READMEs and pull requests; otherwise as for a terminal.
std::string render_markdown(const frontier::FrontierReport& report);

}  // namespace paretopipe::render
