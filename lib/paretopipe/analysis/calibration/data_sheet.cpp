#include <paretopipe/analysis/calibration/data_sheet.hpp>
#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>

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

bool is_of(const Cell& cell, const experiment::Trial& trial) {
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
      result.failures.push_back(record::describe(*record.failure));
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

namespace {

using Records = std::span<const record::TrialRecord>;

void add_once(std::vector<std::string>& items, std::string item) {
  if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(std::move(item));
}

std::vector<std::string> other_machines(const std::string& own, Records records, bool& own_seen) {
  std::vector<std::string> others;
  for (const auto& record : records) {
    for (auto& machine : record::machines_of(record)) {
      if (machine == own) {
        own_seen = true;
      } else {
        add_once(others, std::move(machine));
      }
    }
  }
  return others;
}

void add_machines(std::vector<std::string>& sentences, const DataSheet& sheet, Records records) {
  const auto own = record::machine_of(sheet.conditions.host);
  bool own_seen = false;
  const auto others = other_machines(own, records, own_seen);
  if (others.empty()) return;
  sentences.push_back(
      own_seen ? fmt::format("Trials ran on {}, too: this sheet says nothing of it.", fmt::join(others, ", "))
               : fmt::format("This sheet was made on {}, and the trials ran on {}: it says nothing of them.", own,
                             fmt::join(others, ", ")));
}

/// Lists the changes of a machine that can change an instrument's error.
std::vector<std::string> changes(const host::HostContext& then, const host::HostContext& now) {
  std::vector<std::string> changed;
  const auto add = [&](const char* what, const std::string& before, const std::string& after) {
    if (before != after)
      changed.push_back(fmt::format("{} was {} for the sheet, and {} for trials", what, before, after));
  };
  const auto memory = [](const host::HostContext& host) {
    return format_bytes(static_cast<double>(host.memory_bytes));
  };
  add("kernel", then.kernel, now.kernel);
  add("operating system", then.os, now.os);
  add("memory", memory(then), memory(now));
  add("frequency governor", then.governor.value_or("unknown"), now.governor.value_or("unknown"));
  return changed;
}

void add_changes(std::vector<std::string>& sentences, const DataSheet& sheet, Records records) {
  const auto& own = sheet.conditions.host;
  const auto machine = record::machine_of(own);
  std::vector<std::string> changed;
  for (const auto& record : records) {
    for (const auto& stage : record.stages) {
      if (record::machine_of(stage.host) != machine) continue;
      for (auto& change : changes(own, stage.host)) add_once(changed, std::move(change));
    }
  }
  if (!changed.empty()) sentences.push_back(fmt::format("The machine has changed: {}.", fmt::join(changed, "; ")));
}

void add_version(std::vector<std::string>& sentences, const DataSheet& sheet, Records records) {
  std::vector<std::string> versions;
  for (const auto& record : records) {
    if (!record.provenance.version.empty()) add_once(versions, record.provenance.version);
  }
  const auto& own = sheet.provenance.version;
  if (versions.empty() || std::find(versions.begin(), versions.end(), own) != versions.end()) return;
  sentences.push_back(
      fmt::format("The sheet is of paretopipe {}, and the trials were run by {}.", own, fmt::join(versions, ", ")));
}

}  // namespace

std::vector<std::string> doubts(const DataSheet& sheet, Records records) {
  std::vector<std::string> sentences;
  add_machines(sentences, sheet, records);
  add_changes(sentences, sheet, records);
  add_version(sentences, sheet, records);
  return sentences;
}

}  // namespace paretopipe::calibration
