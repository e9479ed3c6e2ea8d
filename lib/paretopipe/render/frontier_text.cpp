#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/plot.hpp>
#include <paretopipe/render/render_frontier.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontier_notes.hpp"
#include "frontier_table.hpp"
#include "frontier_words.hpp"

namespace paretopipe::render {

namespace {

TableMarks marks_of(const TextStyle& style) {
  return style.unicode ? TableMarks{"● nothing", "–", "–"} : TableMarks{"* nothing", "-", "-"};
}

/// The chosen columns of `table` as text. The rows of `highlighted` stand out; none if it is empty.
Table draw(const FrontierTable& table, const std::vector<std::size_t>& chosen, const std::vector<bool>& highlighted) {
  std::vector<Table::Column> columns;
  for (const auto i : chosen) {
    columns.push_back({table.columns[i].heading, table.columns[i].numeric ? Align::right : Align::left});
  }
  Table text(std::move(columns));
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> cells;
    for (const auto i : chosen) cells.push_back(table.rows[row].at(i));
    text.add_row(std::move(cells), row < highlighted.size() && highlighted[row]);
  }
  return text;
}

/// As many columns as fit the width; the others are left out and named below.
std::string fit(const FrontierTable& table, const std::vector<bool>& highlighted, const TextStyle& style) {
  std::vector<std::size_t> chosen(table.columns.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  std::vector<std::string> left_out;
  while (true) {
    const auto text = draw(table, chosen, highlighted);
    const auto first = std::max_element(chosen.begin(), chosen.end(), [&](std::size_t left, std::size_t right) {
      return table.columns[left].dispensable < table.columns[right].dispensable;
    });
    if (text.width() <= static_cast<std::size_t>(style.width) || table.columns[*first].dispensable == 0) {
      if (left_out.empty()) return text.to_text(style);
      return fmt::format("{}Left out for want of room: {}. All of it: --format markdown, csv or json.\n",
                         text.to_text(style), fmt::join(left_out, ", "));
    }
    left_out.push_back(table.columns[*first].heading);
    chosen.erase(first);
  }
}

std::string render_table(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                         const TextStyle& style) {
  std::vector<bool> on_frontier;
  for (const auto& row : group.rows) on_frontier.push_back(row.on_frontier);
  return fit(make_table(report, group, marks_of(style)), on_frontier, style);
}

std::string render_recommendations(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                                   const TextStyle& style) {
  const auto table = make_recommendation_table(report, group);
  return table.rows.empty() ? "" : '\n' + fit(table, {}, style);
}

std::string render_movement(const frontier::FrontierReport& report, const frontier::NetworkFamily& family,
                            const TextStyle& style) {
  return fmt::format("\n\n{}\n\n{}\n\n{}", record::printable(movement_title(report, family)),
                     robust_headline(report, family),
                     fit(make_movement_table(report, family, marks_of(style).missing), {}, style));
}

ScatterAxis axis(const frontier::Objective& objective) {
  const auto* good = objective.direction == record::Direction::min ? "less" : "more";
  return {fmt::format("{} ({} is better)", objective.metric->name, good), std::string(objective.metric->unit)};
}

std::string render_plot(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                        const TextStyle& style) {
  if (report.objectives.size() < 2) return "";
  std::vector<ScatterPoint> points;
  for (const auto& row : group.rows) {
    if (!row.complete() || !row.is_split()) continue;
    points.push_back({*row.values[0], *row.values[1], record::cut_name(row.configuration.trial), row.on_frontier});
  }
  if (points.size() < 2) return "";
  return '\n' + render_scatter(points, axis(report.objectives[0]), axis(report.objectives[1]), style);
}

std::string render_group(const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                         const TextStyle& style) {
  std::string text =
      fmt::format("{}\n\n{}\n\n", record::printable(record::group_title(group.settings())), headline(report, group));
  text += render_table(report, group, style);
  for (const auto& sentence : legend(report, group)) text += sentence + '\n';
  if (const auto sentence = speed_up_sentence(group); !sentence.empty()) text += sentence + '\n';
  text += render_plot(report, group, style);
  text += fmt::format("\n{}\n", members_sentence(report, group));
  for (const auto& sentence : {volume_sentence(report, group), accuracy_sentence(group), incidents_sentence(group)}) {
    if (!sentence.empty()) text += sentence + '\n';
  }
  for (const auto& remark : remarks(report, group)) text += fmt::format("  {}\n", remark);
  text += render_recommendations(report, group, style);
  return text;
}

}  // namespace

std::string render_text(const frontier::FrontierReport& report, const TextStyle& style) {
  std::string text;
  for (const auto& group : report.groups) {
    if (!text.empty()) text += "\n\n";
    text += render_group(report, group, style);
  }
  for (const auto& family : report.families) text += render_movement(report, family, style);
  return text;
}

namespace {

const TableMarks kMarkdownMarks{"nothing", "–", "–"};

std::string render_table(const FrontierTable& table, const std::vector<bool>& bold) {
  std::vector<Table::Column> columns;
  for (const auto& column : table.columns) {
    columns.push_back({column.heading, column.numeric ? Align::right : Align::left});
  }
  return markdown_table(columns, table.rows, bold);
}

std::string render_movement(const frontier::FrontierReport& report, const frontier::NetworkFamily& family) {
  return fmt::format("\n### {}\n\n{}\n\n{}", markdown_escaped(movement_title(report, family)),
                     markdown_escaped(robust_headline(report, family)),
                     render_table(make_movement_table(report, family, kMarkdownMarks.missing), {}));
}

std::string render_notes(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
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

std::string render_group(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  std::vector<bool> bold;
  for (const auto& row : group.rows) bold.push_back(row.on_frontier);
  auto text = fmt::format("### {}\n\n{}\n\n{}\n{}", markdown_escaped(record::group_title(group.settings())),
                          markdown_escaped(headline(report, group)),
                          render_table(make_table(report, group, kMarkdownMarks), bold), render_notes(report, group));
  const auto recommended = make_recommendation_table(report, group);
  if (!recommended.rows.empty()) text += '\n' + render_table(recommended, {});
  return text;
}

}  // namespace

std::string render_markdown(const frontier::FrontierReport& report) {
  std::string text;
  for (const auto& group : report.groups) {
    if (!text.empty()) text += '\n';
    text += render_group(report, group);
  }
  for (const auto& family : report.families) text += render_movement(report, family);
  return text;
}

}  // namespace paretopipe::render
