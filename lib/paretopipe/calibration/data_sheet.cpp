#include <paretopipe/calibration/data_sheet.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/stats/disturbances.hpp>
#include <paretopipe/stats/quantile.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::calibration {
namespace {

using Measurements = std::vector<const record::TrialRecord*>;

bool farther_from_zero(double left, double right) {
  return std::abs(left) > std::abs(right);
}

bool is_of(const Cell& cell, const plan::Trial& trial) {
  const auto own = trial_of(cell, {}, {}, 0);
  return trial.model == own.model && trial.shaping == own.shaping;
}

/// Error over the repetitions that know the truth. A repetition's truth may depend on what it measured.
std::optional<Deviation> error_of(const Quantity& quantity, const Cell& cell, const Measurements& repetitions) {
  std::vector<double> errors;
  Deviation error;
  for (const auto* record : repetitions) {
    const auto truth = quantity.truth_ns(cell, *record);
    if (!truth) continue;
    error.truth_ns = *truth;
    errors.push_back(quantity.measured_ns(*record) - *truth);
  }
  if (errors.empty()) return std::nullopt;
  error.worst_ns = *std::min_element(errors.begin(), errors.end(), farther_from_zero);
  error.median_ns = *stats::median(std::move(errors));
  return error;
}

Reading reading_of(const Quantity& quantity, const Cell& cell, const Measurements& repetitions) {
  Reading reading{.quantity = &quantity};
  for (const auto* record : repetitions) reading.measured_ns.push_back(quantity.measured_ns(*record));
  reading.error = error_of(quantity, cell, repetitions);
  return reading;
}

void add_disturbances(CellResult& result, const record::TrialRecord& record) {
  const auto disturbed = stats::disturbances(record);
  if (disturbed.empty()) return;
  result.disturbances.push_back(
      fmt::format("repetition {}: {}", record.trial.repetition + 1, fmt::join(disturbed, "; ")));
}

CellResult result_of(const Cell& cell, std::span<const record::TrialRecord> records) {
  CellResult result{cell, {}, {}};
  Measurements repetitions;
  for (const auto& record : records) {
    if (!is_of(cell, record.trial)) continue;
    if (record.status == record::Status::ok) {
      repetitions.push_back(&record);
      add_disturbances(result, record);
    } else {
      result.failures.push_back(report::describe(*record.failure));
    }
  }
  if (result.failures.empty() && repetitions.empty()) result.failures.emplace_back("it was not measured");
  for (const auto& quantity : quantities()) result.readings.push_back(reading_of(quantity, cell, repetitions));
  return result;
}

}  // namespace

double Deviation::bound_ns() const {
  return std::max(kAbsoluteBoundNs, kRelativeBound * truth_ns);
}

bool Deviation::kept() const {
  return std::abs(median_ns) <= bound_ns();
}

std::vector<QuantitySummary> DataSheet::summary() const {
  std::vector<QuantitySummary> summaries;
  for (std::size_t q = 0; q < quantities().size(); ++q) {
    QuantitySummary summary{.quantity = &quantities()[q]};
    std::vector<double> magnitudes;
    for (const auto& result : cells) {
      const auto& error = result.readings[q].error;
      if (!error) continue;
      magnitudes.push_back(std::abs(error->median_ns));
      summary.kept += error->kept() ? 1 : 0;
      if (++summary.cells > 1 && !farther_from_zero(error->median_ns, summary.worst_error_ns)) continue;
      summary.worst_error_ns = error->median_ns;
      summary.worst_cell = result.cell;
    }
    if (summary.cells == 0) continue;
    summary.median_error_ns = *stats::median(std::move(magnitudes));
    summaries.push_back(summary);
  }
  return summaries;
}

bool DataSheet::kept() const {
  const auto all = summary();
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const auto& s) { return s.kept == s.cells; }) &&
         std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.failures.empty(); });
}

std::vector<CellResult> results_of(const std::vector<Cell>& grid, std::span<const record::TrialRecord> records) {
  std::vector<CellResult> results;
  for (const auto& cell : grid) results.push_back(result_of(cell, records));
  return results;
}

}  // namespace paretopipe::calibration
