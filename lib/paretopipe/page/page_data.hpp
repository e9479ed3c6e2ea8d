#pragma once
#include <paretopipe/record/record.hpp>

#include <span>

#include <nlohmann/json.hpp>

namespace paretopipe::page {

/// What the page shows, as the scripts in page/scripts read it. Numbers are in the units of record::metrics(); what
/// does not exist has no key.
///
///   metrics   {name, unit, better, meaning}, in the order of record::metrics()
///   groups    one a frontier: {title, model, batch, network, conditions, evidence, settings, repetitions,
///             coverage_bound, splits, activations}
///     repetitions, coverage_bound   of the split that was measured least often (stats::coverage_bound)
///     splits        {split, label, ok, failed, invalid, on_frontier, dominated_by, reasons, metrics: {name: [median]
///     or
///                   [median, low, high]}, breakdown: [{part, stage, ns}], utilisation: [one a stage]}; low and high
///                   are the bounds of the 95 % interval
///     activations   [[split point, bytes that cross there], …]
///   stages    {stage, machine, compute, …}, one for every machine and set-up that a stage had
///   provenance    {version, git_state, commands, first, last, trials, ok, failed, invalid}
nlohmann::ordered_json make_page_data(std::span<const record::TrialRecord> records);

}  // namespace paretopipe::page
