#include <paretopipe/record/metric.hpp>
#include <paretopipe/report/csv.hpp>
#include <paretopipe/report/format.hpp>

#include "layouts.hpp"

namespace paretopipe::report {
namespace {

std::string heading(const record::TrialRecord& record) {
  std::vector<std::string> cells{"id", "model", "split", "repetition", "status", "failure", "started_at", "position"};
  for (const auto& metric : record::metrics()) cells.push_back(column_name(metric));
  for (const auto& setting : settings_of(record.trial)) cells.push_back(setting.name);
  return csv_line(cells);
}

std::string trial_line(const record::TrialRecord& record) {
  const auto& trial = record.trial;
  const auto& position = record.provenance.position;
  std::vector<std::string> cells{trial.id(),
                                 trial.model,
                                 split_number(trial),
                                 std::to_string(trial.repetition),
                                 to_string(record.status),
                                 record.failure ? describe(*record.failure) : "",
                                 record.provenance.started_at,
                                 position ? std::to_string(*position) : ""};
  for (const auto& metric : record::metrics()) {
    const auto value = metric.value(record);
    cells.push_back(value ? format_number(*value) : "");
  }
  for (const auto& setting : settings_of(trial)) cells.push_back(setting.value);
  return csv_line(cells);
}

}  // namespace

Export export_trials(std::span<const record::TrialRecord> records) {
  if (records.empty()) return {};
  std::string text = heading(records.front());
  for (const auto& record : records) text += trial_line(record);
  return {{{"trials.csv", std::move(text)}}, {}};
}

}  // namespace paretopipe::report
