#include <paretopipe/report/format.hpp>
#include <paretopipe/report/markdown.hpp>
#include <paretopipe/report/render.hpp>

#include <fmt/format.h>

#include "frontier_conclusion.hpp"
#include "frontier_movement.hpp"
#include "frontier_notes.hpp"

namespace paretopipe::report {
namespace {

const TableMarks kMarkdownMarks{"nothing", "–", "–"};

std::string render_table(const FrontierTable& table, const std::vector<bool>& bold) {
  std::vector<Table::Column> columns;
  for (const auto& column : table.columns) {
    columns.push_back({column.heading, column.numeric ? Align::right : Align::left});
  }
  return markdown_table(columns, table.rows, bold);
}

std::string render_movement(const FrontierReport& report, const NetworkFamily& family) {
  return fmt::format("\n### {}\n\n{}\n\n{}", markdown_escaped(movement_title(report, family)),
                     markdown_escaped(robust_headline(report, family)),
                     render_table(make_movement_table(report, family, kMarkdownMarks.missing), {}));
}

std::string render_notes(const FrontierReport& report, const FrontierGroup& group) {
  auto sentences = legend(report, group);
  sentences.push_back(members_sentence(report, group));
  for (auto& sentence : {speed_up_sentence(group), volume_sentence(report, group), accuracy_sentence(group),
                         incidents_sentence(group)}) {
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  for (auto& remark : remarks(report, group)) sentences.push_back(std::move(remark));
  std::string text;
  for (const auto& sentence : sentences) text += fmt::format("- {}\n", markdown_escaped(sentence));
  return text;
}

std::string render_group(const FrontierReport& report, const FrontierGroup& group) {
  std::vector<bool> bold;
  for (const auto& row : group.rows) bold.push_back(row.on_frontier);
  auto text = fmt::format("### {}\n\n{}\n\n{}\n{}", markdown_escaped(group_title(group.settings())),
                          markdown_escaped(headline(report, group)),
                          render_table(make_table(report, group, kMarkdownMarks), bold), render_notes(report, group));
  const auto recommended = make_recommendation_table(report, group);
  if (!recommended.rows.empty()) text += '\n' + render_table(recommended, {});
  return text;
}

}  // namespace

std::string render_markdown(const FrontierReport& report) {
  std::string text;
  for (const auto& group : report.groups) {
    if (!text.empty()) text += '\n';
    text += render_group(report, group);
  }
  for (const auto& family : report.families) text += render_movement(report, family);
  return text;
}

}  // namespace paretopipe::report
