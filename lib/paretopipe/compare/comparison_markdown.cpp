#include <paretopipe/compare/render.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/markdown.hpp>

#include <fmt/format.h>

#include "change_table.hpp"
#include "wording.hpp"

namespace paretopipe::compare {
namespace {

std::string draw(const ChangeTable& table) {
  return report::markdown_table(table.columns, table.rows, table.worse);
}

std::string bulleted(const std::vector<std::string>& sentences) {
  std::string text = sentences.empty() ? "" : "\n";
  for (const auto& sentence : sentences) text += fmt::format("- {}\n", report::markdown_escaped(sentence));
  return text;
}

}  // namespace

std::string render_markdown(const Comparison& comparison) {
  auto text = fmt::format("**{}**\n", conclusion(comparison));
  if (!comparison.request.rules.empty()) text += '\n' + draw(make_rule_table(comparison));
  if (const auto together = make_together_table(comparison, "–"); !together.rows.empty()) {
    text += fmt::format("\n### {}\n\n{}{}", kTogether, draw(together), bulleted(findings_together(comparison)));
  }
  for (const auto& group : groups_of(comparison)) {
    text += fmt::format("\n### {}\n\n{}{}", report::markdown_escaped(report::group_title(group.front().trial)),
                        draw(make_change_table(group, "–")), bulleted(findings(comparison, group)));
  }
  return text + bulleted(notes(comparison));
}

}  // namespace paretopipe::compare
