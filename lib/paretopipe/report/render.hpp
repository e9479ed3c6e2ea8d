#pragma once
#include <paretopipe/report/frontier_report.hpp>
#include <paretopipe/report/text_style.hpp>

#include <string>

namespace paretopipe::report {

/// For a terminal: per group a table, a scatter plot of the first two objectives, and what failed or cannot be
/// compared; then, for groups that differ in their network only, how the frontier moves.
std::string render_text(const FrontierReport& report, const TextStyle& style);

/// One row a split, a heading with units in the names, raw numbers, empty cells for what does not exist. RFC 4180.
std::string render_csv(const FrontierReport& report);

/// {"objectives": […], "groups": [{"settings": …, "splits": […]}]}; keys that have no value are absent.
std::string render_json(const FrontierReport& report);

/// Per group a heading and a table (GitHub's dialect), for READMEs and pull requests; then as for a terminal.
std::string render_markdown(const FrontierReport& report);

}  // namespace paretopipe::report
