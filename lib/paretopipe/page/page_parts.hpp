#pragma once
#include <paretopipe/calibration/data_sheet.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/frontier_report.hpp>

#include <span>
#include <vector>

#include <nlohmann/json.hpp>

/// The pieces of make_page_data().
namespace paretopipe::page {

using Json = nlohmann::ordered_json;
using Records = std::span<const record::TrialRecord>;

/// [{name, value}, …]
Json to_json(const std::vector<report::Setting>& settings);

Json group_data(Records records, const report::FrontierGroup& group);
Json split_data(Records records, const report::FrontierGroup& group, const report::FrontierRow& row);

/// Latency against load, a curve a split, for groups that differ in their load only.
Json loads_data(Records records, const std::vector<report::FrontierGroup>& groups);

/// What went on while the group was measured.
Json disturbances_data(const report::FrontierGroup& group);

/// The data sheet as text, and what speaks against its being of the instrument that made the records.
Json calibration_data(const calibration::DataSheet& sheet, Records records);

/// The machines and set-ups of the stages, each once, with the range of what changed from trial to trial.
Json stages_data(Records records);

/// What produced the records, and how many there are.
Json provenance_data(Records records);

}  // namespace paretopipe::page
