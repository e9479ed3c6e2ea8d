#include <paretopipe/report/format.hpp>
#include <paretopipe/report/render.hpp>

#include <nlohmann/json.hpp>

namespace paretopipe::report {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Objective& objective) {
  return {{"metric", objective.metric->name},
          {"unit", objective.metric->unit},
          {"direction", objective.direction == record::Direction::min ? "min" : "max"}};
}

Json to_json(const FrontierReport& report, const FrontierGroup& group, const FrontierRow& row) {
  const auto& trial = row.configuration.trial;
  Json json{{"split_points", trial.split_points}, {"label", split_label(trial)}};
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    if (row.values[i]) json[column_name(*report.objectives[i].metric)] = json_number(*row.values[i]);
  }
  if (row.payload_bytes) json["payload_bytes"] = json_number(*row.payload_bytes);
  if (row.complete()) json["on_frontier"] = row.on_frontier;
  if (row.dominated_by) json["dominated_by"] = group.rows[*row.dominated_by].configuration.trial.split_points;
  json["repetitions_ok"] = row.configuration.ok.size();
  json["repetitions_failed"] = row.configuration.failed.size();
  json["repetitions_invalid"] = row.configuration.invalid.size();
  if (!row.failures.empty()) json["failures"] = row.failures;
  if (!row.deviations.empty()) json["deviations"] = row.deviations;
  return json;
}

Json to_json(const FrontierReport& report, const FrontierGroup& group) {
  nlohmann::json settings = group.settings();
  settings.erase("split_points");
  settings.erase("repetition");
  Json splits = Json::array();
  for (const auto& row : group.rows) splits.push_back(to_json(report, group, row));
  return {{"settings", Json(settings)}, {"splits", std::move(splits)}};
}

}  // namespace

std::string render_json(const FrontierReport& report) {
  Json json{{"objectives", Json::array()}, {"groups", Json::array()}};
  for (const auto& objective : report.objectives) json["objectives"].push_back(to_json(objective));
  for (const auto& group : report.groups) json["groups"].push_back(to_json(report, group));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace paretopipe::report
