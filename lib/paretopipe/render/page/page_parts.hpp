#pragma once
#include <paretopipe/analysis/calibration/data_sheet.hpp>
#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/analysis/predict/verification.hpp>
#include <paretopipe/record/labels.hpp>

#include <span>
#include <vector>

#include <nlohmann/json.hpp>

/// The pieces of make_page_data().
namespace paretopipe::page {

using Json = nlohmann::ordered_json;
using Records = std::span<const record::TrialRecord>;

/// [{name, unit, better, meaning}, …]
Json metrics_data();

/// [{name, value}, …]
Json to_json(const std::vector<record::Setting>& settings);

Json group_data(Records records, const frontier::FrontierGroup& group);
Json split_data(Records records, const frontier::FrontierGroup& group, const frontier::FrontierRow& row);

/// Adds what was predicted of the group's splits to their data.
void add_predictions(Json& splits, const frontier::FrontierGroup& group,
                     std::span<const predict::VerifiedGroup> predictions);

/// Latency against load, one curve per split, for groups that differ only in their load.
Json loads_data(Records records, const std::vector<frontier::FrontierGroup>& groups);

/// The incidents during the measurement of the group.
Json disturbances_data(const frontier::FrontierGroup& group);

/// The data sheet as text, and the reasons to doubt that it describes the instrument that made the records.
Json calibration_data(const calibration::DataSheet& sheet, Records records);

/// The machines and set-ups of the stages, each once, with the range of values that changed from trial to trial.
Json stages_data(Records records);

/// What produced the records, and their number.
Json provenance_data(Records records);

}  // namespace paretopipe::page
