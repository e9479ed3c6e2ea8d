#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_comparison.hpp>
#include <paretopipe/render/table.hpp>

#include <fmt/format.h>

#include "comparison_words.hpp"

namespace paretopipe::render {

namespace {

std::string draw(const ChangeTable& table, const TextStyle& style) {
  Table drawn(table.columns);
  for (const auto& row : table.rows) drawn.add_row(row);
  return drawn.to_text(style);
}

std::string indented(const std::vector<std::string>& sentences) {
  std::string text = sentences.empty() ? "" : "\n";
  for (const auto& sentence : sentences) text += fmt::format("  {}\n", sentence);
  return text;
}

}  // namespace

std::string render_text(const compare::Comparison& comparison, const TextStyle& style) {
  auto text = conclusion(comparison) + '\n';
  if (!comparison.request.rules.empty()) text += '\n' + draw(make_rule_table(comparison), style);
  const std::string missing_mark = style.unicode ? "–" : "-";
  if (const auto together = make_together_table(comparison, missing_mark); !together.rows.empty()) {
    text += fmt::format("\n{}\n\n{}{}", kTogether, draw(together, style), indented(findings_together(comparison)));
  }
  for (const auto& group : groups_of(comparison)) {
    text += fmt::format("\n{}\n\n{}{}", record::printable(record::group_title(group.front().trial)),
                        draw(make_change_table(group, missing_mark), style), indented(findings(comparison, group)));
  }
  return text + indented(notes(comparison));
}

namespace {

std::string draw(const ChangeTable& table) {
  return markdown_table(table.columns, table.rows, table.worse);
}

std::string bulleted(const std::vector<std::string>& sentences) {
  std::string text = sentences.empty() ? "" : "\n";
  for (const auto& sentence : sentences) text += fmt::format("- {}\n", markdown_escaped(sentence));
  return text;
}

}  // namespace

std::string render_markdown(const compare::Comparison& comparison) {
  auto text = fmt::format("**{}**\n", conclusion(comparison));
  if (!comparison.request.rules.empty()) text += '\n' + draw(make_rule_table(comparison));
  if (const auto together = make_together_table(comparison, "–"); !together.rows.empty()) {
    text += fmt::format("\n### {}\n\n{}{}", kTogether, draw(together), bulleted(findings_together(comparison)));
  }
  for (const auto& group : groups_of(comparison)) {
    text += fmt::format("\n### {}\n\n{}{}", markdown_escaped(record::group_title(group.front().trial)),
                        draw(make_change_table(group, "–")), bulleted(findings(comparison, group)));
  }
  return text + bulleted(notes(comparison));
}

}  // namespace paretopipe::render
