#include <paretopipe/record/metric.hpp>
#include <paretopipe/report/format.hpp>

#include <nlohmann/json.hpp>

#include "layouts.hpp"

namespace paretopipe::report {
namespace {

using Json = nlohmann::ordered_json;

Json object_of(const record::TrialRecord& record) {
  const auto& trial = record.trial;
  Json json{{"id", trial.id()},
            {"model", trial.model},
            {"split", split_number(trial)},
            {"repetition", trial.repetition},
            {"status", to_string(record.status)}};
  if (record.failure) json["failure"] = describe(*record.failure);
  if (!record.provenance.started_at.empty()) json["started_at"] = record.provenance.started_at;
  if (record.provenance.position) json["position"] = *record.provenance.position;
  for (const auto& metric : record::metrics()) {
    if (const auto value = metric.value(record)) json[column_name(metric)] = json_number(*value);
  }
  json.update(flat_settings(trial));
  return json;
}

}  // namespace

Export export_jsonl(std::span<const record::TrialRecord> records) {
  if (records.empty()) return {};
  std::string text;
  for (const auto& record : records)
    text += object_of(record).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  return {{{"trials.jsonl", std::move(text)}}, {}};
}

}  // namespace paretopipe::report
