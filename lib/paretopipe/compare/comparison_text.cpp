#include <paretopipe/compare/render.hpp>
#include <paretopipe/report/format.hpp>

#include <fmt/format.h>

#include "change_table.hpp"
#include "wording.hpp"

namespace paretopipe::compare {
namespace {

std::string draw(const ChangeTable& table, const report::TextStyle& style) {
  report::Table drawn(table.columns);
  for (const auto& row : table.rows) drawn.add_row(row);
  return drawn.to_text(style);
}

std::string indented(const std::vector<std::string>& sentences) {
  std::string text = sentences.empty() ? "" : "\n";
  for (const auto& sentence : sentences) text += fmt::format("  {}\n", sentence);
  return text;
}

}  // namespace

std::string render_text(const Comparison& comparison, const report::TextStyle& style) {
  auto text = conclusion(comparison) + '\n';
  if (!comparison.request.rules.empty()) text += '\n' + draw(make_rule_table(comparison), style);
  const std::string missing_mark = style.unicode ? "–" : "-";
  if (const auto together = make_together_table(comparison, missing_mark); !together.rows.empty()) {
    text += fmt::format("\n{}\n\n{}{}", kTogether, draw(together, style), indented(findings_together(comparison)));
  }
  for (const auto& group : groups_of(comparison)) {
    text += fmt::format("\n{}\n\n{}{}", report::printable(report::group_title(group.front().trial)),
                        draw(make_change_table(group, missing_mark), style), indented(findings(comparison, group)));
  }
  return text + indented(notes(comparison));
}

}  // namespace paretopipe::compare
