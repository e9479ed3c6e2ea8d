#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/record/metric.hpp>
#include <paretopipe/render/frontier_words.hpp>
#include <paretopipe/render/page/page.hpp>
#include <paretopipe/render/render_data_sheet.hpp>

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "page_parts.hpp"

namespace paretopipe::page {

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

Json to_json(const std::vector<record::Setting>& settings) {
  auto json = Json::array();
  for (const auto& setting : settings) json.push_back({{"name", setting.name}, {"value", setting.value}});
  return json;
}

nlohmann::ordered_json make_page_data(std::span<const record::TrialRecord> records, const Supplement& supplement) {
  Json data{{"metrics", metrics_data()}, {"objectives", Json::array()}, {"groups", Json::array()}};
  const auto objectives = frontier::parse_objectives({}, frontier::measured_phases(records));
  for (const auto& objective : objectives) data["objectives"].push_back(objective.metric->name);
  const auto frontiers = frontier::make_frontier_report(records, objectives, {}, supplement.replaced);
  for (const auto& group : frontiers.groups) {
    data["groups"].push_back(group_data(records, group));
    data["groups"].back()["headline"] = render::headline(frontiers, group);
    add_predictions(data["groups"].back()["splits"], group, supplement.predictions);
  }
  data["families"] = Json::array();
  for (const auto& family : frontiers.families) {
    data["families"].push_back({{"groups", family.groups}, {"headline", render::robust_headline(frontiers, family)}});
  }
  data["loads"] = loads_data(records, frontiers.groups);
  data["stages"] = stages_data(records);
  if (supplement.data_sheet) data["calibration"] = calibration_data(*supplement.data_sheet, records);
  data["provenance"] = provenance_data(records);
  return data;
}

namespace {

Json table_data(const render::Table& table) {
  const auto& columns = table.columns();
  auto headings = Json::array();
  for (const auto& column : columns) headings.push_back(column.heading);
  const auto left = std::ranges::count(columns, render::Align::left, &render::Table::Column::align);
  return {{"headings", std::move(headings)}, {"left_columns", left}, {"rows", table.rows()}};
}

}  // namespace

Json calibration_data(const calibration::DataSheet& sheet, Records records) {
  return {{"kept", sheet.kept()},
          {"verdict", render::verdict(sheet)},
          {"doubts", calibration::doubts(sheet, records)},
          {"preamble", render::preamble(sheet)},
          {"remarks", render::remarks(sheet)},
          {"summary", table_data(render::summary_table(sheet))},
          {"cells", table_data(render::error_table(sheet))}};
}

namespace {

/// The smallest and the largest value seen.
class Range {
 public:
  void add(double value) {
    low_ = seen_ ? std::min(low_, value) : value;
    high_ = seen_ ? std::max(high_, value) : value;
    seen_ = true;
  }
  Json to_json() const { return seen_ ? Json::array({low_, high_}) : Json::array(); }

 private:
  bool seen_ = false;
  double low_ = 0;
  double high_ = 0;
};

/// One machine and set-up at one place in the pipeline.
struct Place {
  int stage = 0;
  host::HostContext host;
  nlohmann::json compute{};
  std::string cpus;
  int trials = 0;
  Range load{}, available{}, frequency{};

  bool is_of(int other, const record::StageReport& report) const {
    return stage == other && host == report.host && compute == report.compute && cpus == report.cpus;
  }

  void add(const host::HostState& state) {
    ++trials;
    load.add(state.load_average_1min);
    available.add(static_cast<double>(state.available_memory_bytes));
    if (state.cpu_frequency_hz) frequency.add(static_cast<double>(*state.cpu_frequency_hz));
  }
};

Json place_data(const Place& place) {
  auto machine = nlohmann::json(place.host);
  machine["memory_bytes"] = format_bytes(static_cast<double>(place.host.memory_bytes));
  return {{"stage", place.stage},
          {"trials", place.trials},
          {"machine", to_json(record::flattened(machine))},
          {"cpus", place.cpus},
          {"compute", to_json(record::flattened(place.compute))},
          {"load_average_1min", place.load.to_json()},
          {"available_memory_bytes", place.available.to_json()},
          {"cpu_frequency_hz", place.frequency.to_json()}};
}

std::vector<std::string> distinct(Records records, std::string (*text)(const record::Provenance&)) {
  std::vector<std::string> texts;
  for (const auto& record : records) add_once(texts, text(record.provenance));
  return texts;
}

/// The command line, as a person may type it again.
std::string command_of(const record::Provenance& provenance) {
  std::vector<std::string> words;
  for (const auto& word : provenance.command_line) words.push_back(word_of_shell(word));
  return fmt::format("{}", fmt::join(words, " "));
}

std::int64_t count(Records records, record::Status status) {
  return std::count_if(records.begin(), records.end(), [&](const auto& record) { return record.status == status; });
}

}  // namespace

Json stages_data(Records records) {
  std::vector<Place> places;
  for (const auto& record : records) {
    for (std::size_t i = 0; i < record.stages.size(); ++i) {
      const auto& report = record.stages[i];
      const auto stage = static_cast<int>(i);
      auto place = std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.is_of(stage, report); });
      if (place == places.end()) {
        places.push_back({.stage = stage, .host = report.host, .compute = report.compute, .cpus = report.cpus});
        place = std::prev(places.end());
      }
      place->add(report.state);
    }
  }
  auto json = Json::array();
  for (const auto& place : places) json.push_back(place_data(place));
  return json;
}

Json provenance_data(Records records) {
  // ISO 8601 in UTC sorts as text.
  std::set<std::string> starts;
  for (const auto& record : records) {
    if (!record.provenance.started_at.empty()) starts.insert(record.provenance.started_at);
  }
  Json json{
      {"versions", distinct(records, [](const auto& p) { return fmt::format("{} ({})", p.version, p.git_state); })},
      {"commands", distinct(records, command_of)},
      {"trials", records.size()},
      {"ok", count(records, record::Status::ok)},
      {"failed", count(records, record::Status::failed)},
      {"invalid", count(records, record::Status::invalid)}};
  if (!starts.empty()) {
    json["first"] = *starts.begin();
    json["last"] = *starts.rbegin();
  }
  return json;
}

Json disturbances_data(const frontier::FrontierGroup& group) {
  auto trials = Json::array();
  for (const auto& incident : group.incidents) {
    auto causes = incident.disturbances;
    if (!incident.reason.empty()) causes.push_back(incident.reason);
    trials.push_back({{"split", incident.split},
                      {"repetition", incident.repetition + 1},
                      {"happened", frontier::what_happened(incident)},
                      {"causes", std::move(causes)}});
  }
  return {{"summary", frontier::summarise(group.incidents)}, {"trials", std::move(trials)}};
}

}  // namespace paretopipe::page
