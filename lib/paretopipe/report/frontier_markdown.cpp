#include <paretopipe/report/format.hpp>
#include <paretopipe/report/markdown.hpp>
#include <paretopipe/report/render.hpp>

#include <fmt/format.h>

#include "frontier_movement.hpp"

namespace paretopipe::report {
namespace {

/// Rows of `bold` are those to be stressed; none for a table without them.
std::string render_table(const FrontierTable& table, const std::vector<bool>& bold) {
  std::string text = markdown_line(table.headings) + '|';
  for (const bool numeric : table.numeric) text += numeric ? " ---: |" : " --- |";
  text += '\n';
  for (std::size_t i = 0; i < table.rows.size(); ++i) text += markdown_line(table.rows[i], i < bold.size() && bold[i]);
  return text;
}

std::string render_movement(const FrontierReport& report, const std::vector<std::size_t>& family) {
  return fmt::format("\n### How the frontier moves with the network: {}\n\n{}",
                     markdown_escaped(report.groups[family.front()].settings().model),
                     render_table(make_movement_table(report, family, "–"), {}));
}

std::string render_group(const FrontierReport& report, const FrontierGroup& group) {
  const auto table = make_table(report, group, "yes", "–");
  std::string text = fmt::format("### {}\n\n{}\n\n", markdown_escaped(group_title(group.settings())),
                                 markdown_escaped(conclusion(report, group)));
  std::vector<bool> bold;
  for (const auto& row : group.rows) bold.push_back(row.on_frontier);
  text += render_table(table, bold);
  const auto notes = remarks(report, group);
  if (!notes.empty()) text += '\n';
  for (const auto& note : notes) text += fmt::format("- {}\n", markdown_escaped(note));
  return text;
}

}  // namespace

std::string render_markdown(const FrontierReport& report) {
  std::string text;
  for (const auto& group : report.groups) {
    if (!text.empty()) text += '\n';
    text += render_group(report, group);
  }
  for (const auto& family : network_families(report)) text += render_movement(report, family);
  return text;
}

}  // namespace paretopipe::report
