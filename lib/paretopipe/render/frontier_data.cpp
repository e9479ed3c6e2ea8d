#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_frontier.hpp>
#include <paretopipe/render/table.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cut_data.hpp"
#include "frontier_words.hpp"

namespace paretopipe::render {

namespace {

std::string heading(const frontier::FrontierReport& report) {
  std::vector<std::string> cells{"model", "split"};
  for (const auto& objective : report.objectives) {
    const auto name = record::column_name(*objective.metric);
    for (const auto* suffix : {"", "_low", "_high", "_behind", "_reference"}) cells.push_back(name + suffix);
  }
  if (!report.has_objective("payload")) cells.push_back("payload_bytes");
  if (!report.has_objective("top1_agreement")) cells.push_back("top1_agreement");
  for (const auto* name : {"speed_up_single", "speed_up_sequential", "speed_up_data_parallel", "on_frontier",
                           "frontier_probability", "balanced_probability", "dominated_by", "indistinguishable_from",
                           "recommended_for", "hypervolume", "hypervolume_share", "excluded_by", "repetitions_ok",
                           "repetitions_failed", "repetitions_invalid", "failures", "deviations"}) {
    cells.emplace_back(name);
  }
  for (const auto& setting : record::settings_of(report.groups.front().settings())) cells.push_back(setting.name);
  return csv_line(cells);
}

/// An objective's value, its interval, its excess over the row that beats this one, and the reference.
void append_objective(std::vector<std::string>& cells, const frontier::FrontierGroup& group,
                      const frontier::FrontierRow& row, std::size_t i) {
  const auto& interval = row.intervals[i];
  cells.push_back(csv_cell(row.values[i]));
  cells.push_back(interval ? record::format_number(interval->low) : "");
  cells.push_back(interval ? record::format_number(interval->high) : "");
  cells.push_back(row.dominated_by ? record::format_number(*row.values[i] - *group.rows[*row.dominated_by].values[i])
                                   : "");
  cells.push_back(group.reference.empty() ? "" : record::format_number(group.reference[i]));
}

std::string line(const frontier::FrontierReport& report, const frontier::FrontierGroup& group, std::size_t index) {
  const auto& row = group.rows[index];
  const auto& trial = row.configuration.trial;
  std::vector<std::string> cells{trial.model, record::split_number(trial)};
  for (std::size_t i = 0; i < row.values.size(); ++i) append_objective(cells, group, row, i);
  if (!report.has_objective("payload")) cells.push_back(csv_cell(row.payload_bytes));
  if (!report.has_objective("top1_agreement")) cells.push_back(csv_cell(row.top1_kept));
  cells.push_back(csv_cell(row.speed_ups.single));
  cells.push_back(csv_cell(row.speed_ups.sequential));
  cells.push_back(csv_cell(row.speed_ups.data_parallel));
  cells.emplace_back(!row.compared() ? "" : row.on_frontier ? "true" : "false");
  cells.push_back(csv_cell(row.frontier_probability));
  cells.push_back(csv_cell(row.balanced_probability));
  cells.push_back(row.dominated_by ? record::cut_name(group.rows[*row.dominated_by].configuration.trial) : "");
  std::vector<std::string> alike;
  for (const auto other : row.alike) alike.push_back(record::cut_name(group.rows[other].configuration.trial));
  cells.push_back(fmt::format("{}", fmt::join(alike, " | ")));
  cells.push_back(fmt::format("{}", fmt::join(recommended_for(report, group, index), " | ")));
  cells.push_back(group.hypervolume ? record::format_number(group.hypervolume->volume) : "");
  cells.push_back(group.hypervolume ? csv_cell(group.hypervolume->share) : "");
  cells.push_back(fmt::format("{}", fmt::join(row.violations, "; ")));
  cells.push_back(std::to_string(row.configuration.ok.size()));
  cells.push_back(std::to_string(row.configuration.failed.size()));
  cells.push_back(std::to_string(row.configuration.invalid.size()));
  cells.push_back(fmt::format("{}", fmt::join(row.failures, "; ")));
  cells.push_back(fmt::format("{}", fmt::join(row.deviations, "; ")));
  for (const auto& setting : record::settings_of(trial)) cells.push_back(setting.value);
  return csv_line(cells);
}

}  // namespace

std::string render_csv(const frontier::FrontierReport& report) {
  if (report.groups.empty()) return "";
  std::string text = heading(report);
  for (const auto& group : report.groups) {
    for (std::size_t row = 0; row < group.rows.size(); ++row) text += line(report, group, row);
  }
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const frontier::Objective& objective) {
  return {{"metric", objective.metric->name},
          {"unit", objective.metric->unit},
          {"direction", objective.direction == record::Direction::min ? "min" : "max"}};
}

Json cut(const frontier::FrontierRow& row) {
  Json json;
  append_cut(json, row.configuration.trial.cut());
  return json;
}

Json cut(Json description, const frontier::FrontierRow& row) {
  description.update(cut(row));
  return description;
}

/// A reference to other rows: `name` has their split points, and `name`_codec and `name`_training their codecs and ways
/// of training if there are any.
void refer(Json& json, const std::string& name, const frontier::FrontierRow& row) {
  const auto of_row = cut(row);
  json[name] = of_row["split_points"];
  for (const std::string key : {"codec", "training"}) {
    if (of_row.contains(key)) json[name + "_" + key] = of_row[key];
  }
}

void refer(Json& json, const std::string& name, const frontier::FrontierGroup& group,
           const std::vector<std::size_t>& rows) {
  auto points = Json::array(), codecs = Json::array(), ways = Json::array();
  for (const auto row : rows) {
    const auto& trial = group.rows[row].configuration.trial;
    points.push_back(trial.split_points);
    codecs.push_back(trial.codec);
    if (trial.training) ways.push_back(trial.way_of_training());
  }
  json[name] = std::move(points);
  if (!ways.empty()) json[name + "_training"] = std::move(ways);
  const bool any = std::any_of(codecs.begin(), codecs.end(), [](const Json& codec) { return codec != codec::kNone; });
  if (any) json[name + "_codec"] = std::move(codecs);
}

/// All that a row says about its objectives: medians under their own names, then further values by objective.
void append_objectives(Json& json, const frontier::FrontierReport& report, const frontier::FrontierGroup& group,
                       const frontier::FrontierRow& row) {
  Json intervals, behind;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const auto name = record::column_name(*report.objectives[i].metric);
    if (row.values[i]) json[name] = record::json_number(*row.values[i]);
    if (row.intervals[i])
      intervals[name] = {record::json_number(row.intervals[i]->low), record::json_number(row.intervals[i]->high)};
    if (row.dominated_by) behind[name] = record::json_number(*row.values[i] - *group.rows[*row.dominated_by].values[i]);
  }
  if (!intervals.empty()) {
    json["intervals"] = std::move(intervals);
    json["interval_coverage_at_most"] = stats::coverage_bound(row.configuration.ok.size());
  }
  if (row.payload_bytes) json["payload_bytes"] = record::json_number(*row.payload_bytes);
  if (row.top1_kept) json["top1_agreement"] = record::json_number(*row.top1_kept);
  if (row.speed_ups.single) json["speed_up_single"] = record::json_number(*row.speed_ups.single);
  if (row.speed_ups.sequential) json["speed_up_sequential"] = record::json_number(*row.speed_ups.sequential);
  if (row.speed_ups.data_parallel) json["speed_up_data_parallel"] = record::json_number(*row.speed_ups.data_parallel);
  if (row.compared()) json["on_frontier"] = row.on_frontier;
  if (row.frontier_probability) json["frontier_probability"] = *row.frontier_probability;
  if (row.balanced_probability) json["balanced_probability"] = *row.balanced_probability;
  if (row.dominated_by) {
    refer(json, "dominated_by", group.rows[*row.dominated_by]);
    json["behind"] = std::move(behind);
  }
}

Json to_json(const frontier::FrontierReport& report, const frontier::FrontierGroup& group, std::size_t index) {
  const auto& row = group.rows[index];
  auto json = cut(row);
  json["label"] = record::split_label(row.configuration.trial);
  if (!row.is_split()) json["devices"] = row.configuration.trial.data_parallel;
  append_objectives(json, report, group, row);
  if (!row.alike.empty()) refer(json, "indistinguishable_from", group, row.alike);
  const auto purposes = recommended_for(report, group, index);
  if (!purposes.empty()) json["recommended_for"] = purposes;
  if (!row.violations.empty()) json["excluded_by"] = row.violations;
  json["repetitions_ok"] = row.configuration.ok.size();
  json["repetitions_failed"] = row.configuration.failed.size();
  json["repetitions_invalid"] = row.configuration.invalid.size();
  if (!row.failures.empty()) json["failures"] = row.failures;
  if (!row.deviations.empty()) json["deviations"] = row.deviations;
  return json;
}

Json recommendations(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  const auto& recommendation = *group.recommendation;
  Json json = Json::array();
  for (std::size_t i = 0; i < report.objectives.size(); ++i) {
    json.push_back(cut({{"for", superlative(report.objectives[i])}}, group.rows[recommendation.best[i]]));
  }
  auto balanced = cut({{"for", "balanced"}}, group.rows[recommendation.balanced.option]);
  balanced["worst_regret"] = recommendation.balanced.worst_regret;
  balanced["worst_in"] = report.objectives[recommendation.balanced.worst_case].metric->name;
  json.push_back(std::move(balanced));
  if (recommendation.knee) json.push_back(cut({{"for", "knee"}}, group.rows[*recommendation.knee]));
  return json;
}

Json to_json(const frontier::Incident& incident) {
  Json json;
  append_cut(json, incident.cut);
  json["repetition"] = incident.repetition;
  json["happened"] = frontier::what_happened(incident);
  const auto& outliers = incident.outliers;
  if (!outliers.single_stream.empty()) json["outliers_single_stream"] = outliers.single_stream;
  if (!outliers.offline.empty()) json["outliers_offline"] = outliers.offline;
  if (!incident.slow_downs.empty()) json["slow_downs"] = incident.slow_downs;
  if (!incident.disturbances.empty()) json["disturbances"] = incident.disturbances;
  if (!incident.reason.empty()) json["reason"] = incident.reason;
  return json;
}

Json to_json(const frontier::FrontierReport& report, const frontier::FrontierGroup& group) {
  Json json{{"settings", settings_of_group(group.settings())},
            {"conclusion", headline(report, group)},
            {"splits", Json::array()}};
  for (std::size_t row = 0; row < group.rows.size(); ++row) json["splits"].push_back(to_json(report, group, row));
  if (group.recommendation) json["recommendations"] = recommendations(report, group);
  for (std::size_t i = 0; i < group.reference.size(); ++i) {
    json["reference"][record::column_name(*report.objectives[i].metric)] = record::json_number(group.reference[i]);
  }
  for (const auto& incident : group.incidents) json["incidents"].push_back(to_json(incident));
  if (group.hypervolume) json["hypervolume"] = record::json_number(group.hypervolume->volume);
  if (group.hypervolume && group.hypervolume->share) json["hypervolume_share"] = *group.hypervolume->share;
  return json;
}

Json to_json(const frontier::FrontierReport& report, const frontier::NetworkFamily& family) {
  Json networks = Json::array(), candidates = Json::array();
  for (const auto index : family.groups) networks.push_back(report.groups[index].settings().network.name);
  const auto& first = report.groups[family.groups.front()];
  for (const auto& candidate : family.candidates) {
    auto json = cut(first.rows[candidate.rows.front()]);
    json["worst_regret"] = candidate.worst_regret;
    json["worst_in"] = report.objectives[candidate.worst_objective].metric->name;
    json["worst_network"] = networks[candidate.worst_group];
    candidates.push_back(std::move(json));
  }
  Json json{{"groups", family.groups}, {"networks", networks}, {"conclusion", robust_headline(report, family)}};
  if (family.robust) refer(json, "robust", first.rows[family.candidates[*family.robust].rows.front()]);
  json["candidates"] = std::move(candidates);
  return json;
}

}  // namespace

std::string render_json(const frontier::FrontierReport& report) {
  Json json{{"objectives", Json::array()},
            {"bootstrap", {{"resamples", stats::kResamples}, {"seed", report.options.seed}, {"level", 0.95}}},
            {"constraints", Json::array()},
            {"groups", Json::array()},
            {"network_families", Json::array()}};
  for (const auto& objective : report.objectives) json["objectives"].push_back(to_json(objective));
  for (const auto& constraint : report.options.constraints) json["constraints"].push_back(constraint.label());
  for (const auto& group : report.groups) json["groups"].push_back(to_json(report, group));
  for (const auto& family : report.families) json["network_families"].push_back(to_json(report, family));
  return json_text(json);
}

}  // namespace paretopipe::render
