#include <paretopipe/report/format.hpp>
#include <paretopipe/report/render.hpp>

#include <fmt/format.h>

#include "frontier_conclusion.hpp"
#include "frontier_movement.hpp"
#include "frontier_notes.hpp"

namespace paretopipe::report {
namespace {

const TableMarks kMarks{"nothing", "–", "–"};

/// Text that Markdown shows as it is: what would start a cell, a tag, a link or code is escaped.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("|<>&`*[]\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string line(const std::vector<std::string>& cells, bool bold = false) {
  std::string text = "|";
  for (const auto& cell : cells) {
    text += bold && !cell.empty() ? fmt::format(" **{}** |", escaped(cell)) : fmt::format(" {} |", escaped(cell));
  }
  return text + '\n';
}

/// Rows of `bold` are those to be stressed; none for a table without them.
std::string render_table(const FrontierTable& table, const std::vector<bool>& bold) {
  std::vector<std::string> headings;
  for (const auto& column : table.columns) headings.push_back(column.heading);
  std::string text = line(headings) + '|';
  for (const auto& column : table.columns) text += column.numeric ? " ---: |" : " --- |";
  text += '\n';
  for (std::size_t i = 0; i < table.rows.size(); ++i) text += line(table.rows[i], i < bold.size() && bold[i]);
  return text;
}

std::string render_movement(const FrontierReport& report, const NetworkFamily& family) {
  return fmt::format("\n### How the frontier moves with the network: {}\n\n{}\n\n{}",
                     escaped(report.groups[family.groups.front()].settings().model),
                     escaped(robust_headline(report, family)),
                     render_table(make_movement_table(report, family, kMarks.missing), {}));
}

std::string render_notes(const FrontierReport& report, const FrontierGroup& group) {
  auto sentences = legend(report, group);
  sentences.push_back(members_sentence(report, group));
  if (auto volume = volume_sentence(report, group); !volume.empty()) sentences.push_back(std::move(volume));
  for (auto& remark : remarks(report, group)) sentences.push_back(std::move(remark));
  std::string text;
  for (const auto& sentence : sentences) text += fmt::format("- {}\n", escaped(sentence));
  return text;
}

std::string render_group(const FrontierReport& report, const FrontierGroup& group) {
  std::vector<bool> bold;
  for (const auto& row : group.rows) bold.push_back(row.on_frontier);
  auto text =
      fmt::format("### {}\n\n{}\n\n{}\n{}", escaped(group_title(group.settings())), escaped(headline(report, group)),
                  render_table(make_table(report, group, kMarks), bold), render_notes(report, group));
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
