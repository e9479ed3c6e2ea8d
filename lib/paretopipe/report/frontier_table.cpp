#include "frontier_table.hpp"

#include <paretopipe/report/format.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::report {
namespace {

std::string repetitions(const stats::Configuration& configuration) {
  std::vector<std::string> counts;
  const auto add = [&](const std::vector<std::size_t>& records, const char* what) {
    if (!records.empty()) counts.push_back(fmt::format("{} {}", records.size(), what));
  };
  add(configuration.ok, "ok");
  add(configuration.failed, "failed");
  add(configuration.invalid, "invalid");
  return fmt::format("{}", fmt::join(counts, ", "));
}

/// Why a row is not on the frontier; a failed one says so in its repetitions.
std::string standing(const FrontierGroup& group, const FrontierRow& row) {
  if (row.dominated_by) {
    return fmt::format("beaten by {}", split_number(group.rows[*row.dominated_by].configuration.trial));
  }
  return row.configuration.ok.empty() ? "" : "not compared";
}

std::vector<const record::Metric*> value_columns(const FrontierReport& report) {
  std::vector<const record::Metric*> columns;
  for (const auto& objective : report.objectives) columns.push_back(objective.metric);
  const auto* payload = &record::find_metric("payload");
  if (std::find(columns.begin(), columns.end(), payload) == columns.end()) columns.push_back(payload);
  return columns;
}

}  // namespace

FrontierTable make_table(const FrontierReport& report, const FrontierGroup& group, const std::string& frontier_mark,
                         const std::string& missing_mark) {
  FrontierTable table{{"split"}, {false}, {}};
  const auto columns = value_columns(report);
  for (const auto* metric : columns) {
    table.headings.emplace_back(metric->name);
    table.numeric.push_back(true);
  }
  for (const auto* heading : {"frontier", "repetitions"}) {
    table.headings.emplace_back(heading);
    table.numeric.push_back(false);
  }
  for (const auto& row : group.rows) {
    std::vector<std::string> cells{split_label(row.configuration.trial)};
    for (const auto* metric : columns) {
      const auto value = row.configuration.median(*metric);
      cells.push_back(value ? format_value(*value, metric->unit) : missing_mark);
    }
    cells.push_back(row.on_frontier ? frontier_mark : standing(group, row));
    cells.push_back(repetitions(row.configuration));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string conclusion(const FrontierReport& report, const FrontierGroup& group) {
  std::vector<std::string> objectives, members;
  for (const auto& objective : report.objectives) objectives.push_back(objective.label());
  for (const auto& row : group.rows) {
    if (row.on_frontier) members.push_back(split_number(row.configuration.trial));
  }
  if (members.empty()) return "No split has all the objectives: there is no frontier.";
  return fmt::format("{} of {} split{} {} on the frontier of {}: {}.", members.size(), group.rows.size(),
                     group.rows.size() == 1 ? "" : "s", members.size() == 1 ? "is" : "are",
                     fmt::join(objectives, " and "), fmt::join(members, ", "));
}

std::vector<std::string> remarks(const FrontierReport& report, const FrontierGroup& group) {
  std::vector<std::string> sentences;
  for (const auto& row : group.rows) {
    const auto& configuration = row.configuration;
    const auto& trial = configuration.trial;
    for (const auto& failure : row.failures) {
      sentences.push_back(fmt::format("split {} failed in {} of {} repetitions: {}", split_label(trial),
                                      configuration.failed.size(), configuration.count(), printable(failure)));
    }
    for (const auto& deviation : row.deviations) {
      sentences.push_back(fmt::format("split {} does not count in {} of {} repetitions: {}", split_label(trial),
                                      configuration.invalid.size(), configuration.count(), printable(deviation)));
    }
    if (configuration.ok.empty() || row.complete()) continue;
    std::vector<std::string> lacking;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (!row.values[i]) lacking.emplace_back(report.objectives[i].metric->name);
    }
    sentences.push_back(
        fmt::format("split {} has no {} and was not compared", split_label(trial), fmt::join(lacking, ", ")));
  }
  return sentences;
}

}  // namespace paretopipe::report
