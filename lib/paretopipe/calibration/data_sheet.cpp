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

bool farther_from_zero(double left, double right) {
  return std::abs(left) > std::abs(right);
}

bool is_of(const Cell& cell, const plan::Trial& trial) {
  const auto own = trial_of(cell, {}, {}, 0);
  return trial.model == own.model && trial.shaping == own.shaping;
}

/// Truths are of each repetition, for they may depend on what it found; they agree but for whether one is known.
void add(CellResult& result, const record::TrialRecord& record) {
  const auto disturbed = stats::disturbances(record);
  if (!disturbed.empty()) {
    result.disturbances.push_back(
        fmt::format("repetition {}: {}", record.trial.repetition + 1, fmt::join(disturbed, "; ")));
  }
  for (auto& reading : result.readings) {
    const auto measured = reading.quantity->measured_ns(record);
    reading.measured_ns.push_back(measured);
    if (const auto truth = reading.quantity->truth_ns(result.cell, record)) {
      reading.truth_ns = truth;
      reading.errors_ns.push_back(measured - *truth);
    }
  }
}

}  // namespace

std::optional<double> Reading::error_ns() const {
  return stats::median(errors_ns);
}

std::optional<double> Reading::worst_error_ns() const {
  if (errors_ns.empty()) return std::nullopt;
  return *std::min_element(errors_ns.begin(), errors_ns.end(), farther_from_zero);
}

std::optional<double> Reading::bound_ns() const {
  if (!truth_ns) return std::nullopt;
  return std::max(kAbsoluteBoundNs, kRelativeBound * *truth_ns);
}

std::optional<bool> Reading::kept() const {
  if (errors_ns.empty()) return std::nullopt;
  return std::abs(*error_ns()) <= *bound_ns();
}

std::vector<QuantitySummary> DataSheet::summary() const {
  std::vector<QuantitySummary> summaries;
  for (std::size_t q = 0; q < quantities().size(); ++q) {
    QuantitySummary summary{.quantity = &quantities()[q], .worst_cell = {}};
    std::vector<double> magnitudes;
    for (const auto& result : cells) {
      const auto& reading = result.readings[q];
      const auto error = reading.error_ns();
      if (!error) continue;
      magnitudes.push_back(std::abs(*error));
      summary.kept += *reading.kept() ? 1 : 0;
      if (++summary.cells > 1 && !farther_from_zero(*error, summary.worst_error_ns)) continue;
      summary.worst_error_ns = *error;
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
  for (const auto& cell : grid) {
    CellResult result{cell, {}, {}};
    for (const auto& quantity : quantities()) result.readings.push_back({&quantity, {}, {}, {}});
    for (const auto& record : records) {
      if (!is_of(cell, record.trial)) continue;
      if (record.status == record::Status::ok) {
        add(result, record);
      } else {
        result.failures.push_back(report::describe(*record.failure));
      }
    }
    if (result.failures.empty() && result.readings.front().measured_ns.empty())
      result.failures.emplace_back("it was not measured");
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace paretopipe::calibration
