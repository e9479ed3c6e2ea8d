#include <paretopipe/page/page_data.hpp>
#include <paretopipe/record/metric.hpp>
#include <paretopipe/report/frontier_conclusion.hpp>

#include "page_parts.hpp"

namespace paretopipe::page {
namespace {

Json metrics_data() {
  auto metrics = Json::array();
  for (const auto& metric : record::metrics()) {
    metrics.push_back({{"name", metric.name},
                       {"unit", metric.unit},
                       {"better", metric.better == record::Direction::min ? "min" : "max"},
                       {"meaning", metric.meaning}});
  }
  return metrics;
}

}  // namespace

Json to_json(const std::vector<report::Setting>& settings) {
  auto json = Json::array();
  for (const auto& setting : settings) json.push_back({{"name", setting.name}, {"value", setting.value}});
  return json;
}

nlohmann::ordered_json make_page_data(std::span<const record::TrialRecord> records, const Supplement& supplement) {
  Json data{{"metrics", metrics_data()}, {"objectives", Json::array()}, {"groups", Json::array()}};
  const auto objectives = report::parse_objectives({}, report::measured_phases(records));
  for (const auto& objective : objectives) data["objectives"].push_back(objective.metric->name);
  const auto frontiers = report::make_frontier_report(records, objectives, {}, supplement.replaced);
  for (const auto& group : frontiers.groups) {
    data["groups"].push_back(group_data(records, group));
    data["groups"].back()["headline"] = report::headline(frontiers, group);
  }
  data["families"] = Json::array();
  for (const auto& family : frontiers.families) {
    data["families"].push_back({{"groups", family.groups}, {"headline", report::robust_headline(frontiers, family)}});
  }
  data["loads"] = loads_data(records, frontiers.groups);
  data["stages"] = stages_data(records);
  if (supplement.data_sheet) data["calibration"] = calibration_data(*supplement.data_sheet, records);
  data["provenance"] = provenance_data(records);
  return data;
}

}  // namespace paretopipe::page
