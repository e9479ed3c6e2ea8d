#pragma once
#include <paretopipe/analysis/calibration/data_sheet.hpp>
#include <paretopipe/analysis/predict/verification.hpp>
#include <paretopipe/record/record.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::page {

/// `data` as text that is safe in a <script type="application/json"> element, whatever its strings hold. `<`, `>`, `&`
/// and the line ends of JavaScript that JSON does not know (U+2028, U+2029) are written as \uXXXX, so no string can end
/// the element or open a comment. JSON.parse returns the same strings; bytes that are not UTF-8 become U+FFFD.
std::string embedded_json(const nlohmann::ordered_json& data);

/// Throws EnvironmentError, which says what to do, if this was built without the charting library, and therefore
/// without the page.
void require_renderer();

/// One HTML file that shows `data` (make_page_data) and is self-contained: it includes styles, scripts and the charting
/// library, and its Content-Security-Policy forbids loading anything or running any other script. Throws what
/// require_renderer() throws.
std::string render_page(const nlohmann::ordered_json& data);

/// What the page shows beside the ok records.
struct Supplement {
  std::span<const record::TrialRecord> replaced{};  ///< records of trials that were measured again (record::RecordSet)
  std::optional<calibration::DataSheet> data_sheet{};
  std::vector<predict::VerifiedGroup> predictions{};  ///< of these records (predict::verify_all)
};

/// What the page shows, as the scripts in page/web read it. Numbers are in the units of record::metrics(); what
/// does not exist has no key.
///
///   metrics   {name, unit, better, meaning}, in the order of record::metrics()
///   groups    one a frontier: {title, model, batch, micro_batch, depth, threads_per_stage, load, network, conditions,
///             evidence, settings, repetitions, coverage_bound, splits, activations, disturbances, headline}
///     repetitions, coverage_bound   of the split that was measured least often (stats::coverage_bound)
///     splits        {split, label, ok, failed, invalid, on_frontier, frontier_probability, dominated_by, reasons,
///                   speed_up_single, speed_up_sequential, speed_up_data_parallel (frontier::SpeedUps), baseline (true:
///                   data parallelism, which is no split and has neither breakdown nor utilisation), metrics: {name:
///                   [median] or [median, low, high]}, predicted: {latency_p50, throughput: [value, low, high],
///                   missed}, where a profile predicts it, breakdown: [{part, stage, ns}], utilisation: [one a stage]};
///                   low and high are the bounds of the 95 % interval
///     activations   [[split point, bytes that cross there], …]
///     disturbances  {summary, trials: [{split, repetition, happened, causes}]}, where something was
///     (frontier::Incident)
///   families  {groups: [places in `groups`], headline}, for groups that differ in their network only
///   loads     {groups: [places in `groups`], bounds: [{statistic, limit_ns}], curves: [{split, label, points: [{rate,
///             achieved, saturated, repetitions, mean, p50, p90, p95, p99, max}]}]}, for groups that differ in their
///             load only: of every split latency (in ns, from arrival) against load (image/s), medians over the
///             repetitions
///   stages    {stage, machine, compute, …}, one for every machine and set-up that a stage had
///   calibration  {kept, verdict, doubts, preamble, remarks, summary, cells}, where there is a data sheet; the last two
///                are {headings, left_columns, rows}, all text
///   provenance    {version, git_state, commands, first, last, trials, ok, failed, invalid}
nlohmann::ordered_json make_page_data(std::span<const record::TrialRecord> records, const Supplement& supplement = {});

/// What `profiles` predict, likewise: "predicted" is true, every number has its band in place of an interval, each
/// split says what it is `bound_by`, and the provenance is {versions, commands, profiles}. Requires a split.
nlohmann::ordered_json make_page_data(const predict::Prediction& prediction,
                                      std::span<const predict::Profile> profiles);

}  // namespace paretopipe::page
