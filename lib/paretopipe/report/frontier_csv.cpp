#include <paretopipe/report/csv.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/render.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::report {
namespace {

bool shows_payload(const FrontierReport& report) {
  for (const auto& objective : report.objectives) {
    if (objective.metric->name == "payload") return true;
  }
  return false;
}

std::string cell(const std::optional<double>& value) {
  return value ? format_number(*value) : "";
}

std::string heading(const FrontierReport& report) {
  std::vector<std::string> cells{"model", "split"};
  for (const auto& objective : report.objectives) cells.push_back(column_name(*objective.metric));
  if (!shows_payload(report)) cells.push_back("payload_bytes");
  for (const auto* name : {"on_frontier", "dominated_by", "repetitions_ok", "repetitions_failed", "repetitions_invalid",
                           "failures", "deviations"}) {
    cells.emplace_back(name);
  }
  for (const auto& setting : settings_of(report.groups.front().settings())) cells.push_back(setting.name);
  return csv_line(cells);
}

std::string line(const FrontierReport& report, const FrontierGroup& group, const FrontierRow& row) {
  const auto& trial = row.configuration.trial;
  std::vector<std::string> cells{trial.model, split_number(trial)};
  for (const auto& value : row.values) cells.push_back(cell(value));
  if (!shows_payload(report)) cells.push_back(cell(row.payload_bytes));
  cells.emplace_back(!row.complete() ? "" : row.on_frontier ? "true" : "false");
  cells.push_back(row.dominated_by ? split_number(group.rows[*row.dominated_by].configuration.trial) : "");
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
    for (const auto& row : group.rows) text += line(report, group, row);
  }
  return text;
}

}  // namespace paretopipe::report
