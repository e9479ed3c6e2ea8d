#include <paretopipe/report/format.hpp>
#include <paretopipe/report/render.hpp>
#include <paretopipe/report/scatter.hpp>
#include <paretopipe/report/table.hpp>

#include <fmt/format.h>

#include "frontier_movement.hpp"

namespace paretopipe::report {
namespace {

const char* missing_mark(const TextStyle& style) {
  return style.unicode ? "–" : "-";
}

Table without_rows(const FrontierTable& table) {
  std::vector<Table::Column> columns;
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    columns.push_back({table.headings[i], table.numeric[i] ? Align::right : Align::left});
  }
  return Table(std::move(columns));
}

std::string render_table(const FrontierReport& report, const FrontierGroup& group, const TextStyle& style) {
  const auto table = make_table(report, group, style.unicode ? "●" : "*", missing_mark(style));
  auto text = without_rows(table);
  for (std::size_t i = 0; i < table.rows.size(); ++i) text.add_row(table.rows[i], group.rows[i].on_frontier);
  return text.to_text(style);
}

std::string render_movement(const FrontierReport& report, const std::vector<std::size_t>& family,
                            const TextStyle& style) {
  const auto table = make_movement_table(report, family, missing_mark(style));
  auto text = without_rows(table);
  for (const auto& row : table.rows) text.add_row(row);
  return fmt::format("\n\nHow the frontier moves with the network: {}\n\n{}",
                     printable(report.groups[family.front()].settings().model), text.to_text(style));
}

ScatterAxis axis(const Objective& objective) {
  const auto* good = objective.direction == record::Direction::min ? "less" : "more";
  return {fmt::format("{} ({} is better)", objective.metric->name, good), std::string(objective.metric->unit)};
}

std::string render_plot(const FrontierReport& report, const FrontierGroup& group, const TextStyle& style) {
  if (report.objectives.size() < 2) return "";
  std::vector<ScatterPoint> points;
  for (const auto& row : group.rows) {
    if (!row.complete()) continue;
    points.push_back({*row.values[0], *row.values[1], split_number(row.configuration.trial), row.on_frontier});
  }
  if (points.size() < 2) return "";
  return '\n' + render_scatter(points, axis(report.objectives[0]), axis(report.objectives[1]), style);
}

std::string render_group(const FrontierReport& report, const FrontierGroup& group, const TextStyle& style) {
  std::string text = printable(group_title(group.settings())) + "\n\n";
  text += render_table(report, group, style);
  text += render_plot(report, group, style);
  text += fmt::format("\n{}\n", conclusion(report, group));
  for (const auto& remark : remarks(report, group)) text += fmt::format("  {}\n", remark);
  return text;
}

}  // namespace

std::string render_text(const FrontierReport& report, const TextStyle& style) {
  std::string text;
  for (const auto& group : report.groups) {
    if (!text.empty()) text += "\n\n";
    text += render_group(report, group, style);
  }
  for (const auto& family : network_families(report)) text += render_movement(report, family, style);
  return text;
}

}  // namespace paretopipe::report
