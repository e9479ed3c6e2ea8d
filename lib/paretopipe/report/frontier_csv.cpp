#include <paretopipe/report/csv.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/render.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontier_notes.hpp"

namespace paretopipe::report {
namespace {

std::string cell(const std::optional<double>& value) {
  return value ? format_number(*value) : "";
}

std::string heading(const FrontierReport& report) {
  std::vector<std::string> cells{"model", "split"};
  for (const auto& objective : report.objectives) {
    const auto name = column_name(*objective.metric);
    for (const auto* suffix : {"", "_low", "_high", "_behind", "_reference"}) cells.push_back(name + suffix);
  }
  if (!report.has_objective("payload")) cells.push_back("payload_bytes");
  for (const auto* name : {"speed_up_single", "speed_up_sequential", "speed_up_data_parallel", "on_frontier",
                           "frontier_probability", "balanced_probability", "dominated_by", "indistinguishable_from",
                           "recommended_for", "hypervolume", "hypervolume_share", "excluded_by", "repetitions_ok",
                           "repetitions_failed", "repetitions_invalid", "failures", "deviations"}) {
    cells.emplace_back(name);
  }
  for (const auto& setting : settings_of(report.groups.front().settings())) cells.push_back(setting.name);
  return csv_line(cells);
}

/// An objective's value, its interval, its excess over the row that beats this one, and the reference.
void append_objective(std::vector<std::string>& cells, const FrontierGroup& group, const FrontierRow& row,
                      std::size_t i) {
  const auto& interval = row.intervals[i];
  cells.push_back(cell(row.values[i]));
  cells.push_back(interval ? format_number(interval->low) : "");
  cells.push_back(interval ? format_number(interval->high) : "");
  cells.push_back(row.dominated_by ? format_number(*row.values[i] - *group.rows[*row.dominated_by].values[i]) : "");
  cells.push_back(group.reference.empty() ? "" : format_number(group.reference[i]));
}

std::string line(const FrontierReport& report, const FrontierGroup& group, std::size_t index) {
  const auto& row = group.rows[index];
  const auto& trial = row.configuration.trial;
  std::vector<std::string> cells{trial.model, split_number(trial)};
  for (std::size_t i = 0; i < row.values.size(); ++i) append_objective(cells, group, row, i);
  if (!report.has_objective("payload")) cells.push_back(cell(row.payload_bytes));
  cells.push_back(cell(row.speed_ups.single));
  cells.push_back(cell(row.speed_ups.sequential));
  cells.push_back(cell(row.speed_ups.data_parallel));
  cells.emplace_back(!row.compared() ? "" : row.on_frontier ? "true" : "false");
  cells.push_back(cell(row.frontier_probability));
  cells.push_back(cell(row.balanced_probability));
  cells.push_back(row.dominated_by ? split_number(group.rows[*row.dominated_by].configuration.trial) : "");
  std::vector<std::string> alike;
  for (const auto other : row.alike) alike.push_back(split_number(group.rows[other].configuration.trial));
  cells.push_back(fmt::format("{}", fmt::join(alike, " | ")));
  cells.push_back(fmt::format("{}", fmt::join(recommended_for(report, group, index), " | ")));
  cells.push_back(group.hypervolume ? format_number(group.hypervolume->volume) : "");
  cells.push_back(group.hypervolume ? cell(group.hypervolume->share) : "");
  cells.push_back(fmt::format("{}", fmt::join(row.violations, "; ")));
  cells.push_back(std::to_string(row.configuration.ok.size()));
  cells.push_back(std::to_string(row.configuration.failed.size()));
  cells.push_back(std::to_string(row.configuration.invalid.size()));
  cells.push_back(fmt::format("{}", fmt::join(row.failures, "; ")));
  cells.push_back(fmt::format("{}", fmt::join(row.deviations, "; ")));
  for (const auto& setting : settings_of(trial)) cells.push_back(setting.value);
  return csv_line(cells);
}

}  // namespace

std::string render_csv(const FrontierReport& report) {
  if (report.groups.empty()) return "";
  std::string text = heading(report);
  for (const auto& group : report.groups) {
    for (std::size_t row = 0; row < group.rows.size(); ++row) text += line(report, group, row);
  }
  return text;
}

}  // namespace paretopipe::report
