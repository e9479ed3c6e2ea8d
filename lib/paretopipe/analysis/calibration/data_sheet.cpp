#include <paretopipe/analysis/calibration/data_sheet.hpp>
#include <paretopipe/analysis/stats/disturbances.hpp>
#include <paretopipe/analysis/stats/quantile.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/core/text.hpp>
#include <paretopipe/core/units.hpp>
#include <paretopipe/experiment/json_file.hpp>
#include <paretopipe/record/labels.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

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

void add_machines(std::vector<std::string>& sentences, const DataSheet& sheet, Records records) {
  const auto own = record::machine_of(sheet.conditions.host);
  std::vector<std::string> others;
  for (const auto& record : records) {
    for (auto& machine : record::machines_of(record)) add_once(others, std::move(machine));
  }
  const bool own_seen = std::erase(others, own) > 0;
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

namespace {

using Json = nlohmann::json;

Json to_json(const Cell& cell) {
  return {{"network", cell.emulated ? "emulated" : "loopback"},
          {"compute_ns", cell.compute.count()},
          {"payload_bytes", cell.payload_bytes},
          {"depth", depth_of(cell)}};
}

Json to_json(const Reading& reading) {
  Json json{{"quantity", reading.quantity->name}, {"measured_ns", reading.measured_ns}};
  if (reading.error) {
    json["truth_ns"] = reading.error->truth_ns;
    json["error_ns"] = reading.error->median_ns;
    json["worst_error_ns"] = reading.error->worst_ns;
    json["bound_ns"] = reading.error->bound_ns();
    json["kept"] = reading.error->kept();
  }
  return json;
}

Json to_json(const CellResult& result) {
  auto json = to_json(result.cell);
  json["readings"] = Json::array();
  for (const auto& reading : result.readings) {
    if (!reading.measured_ns.empty()) json["readings"].push_back(to_json(reading));
  }
  if (!result.failures.empty()) json["failures"] = result.failures;
  if (!result.disturbances.empty()) json["disturbances"] = result.disturbances;
  return json;
}

Json to_json(const QuantitySummary& summary) {
  return {{"quantity", summary.quantity->name},
          {"meaning", summary.quantity->meaning},
          {"cells", summary.cells},
          {"kept", summary.kept},
          {"median_error_ns", summary.median_error_ns},
          {"worst_error_ns", summary.worst_error_ns},
          {"worst_cell", to_json(summary.worst_cell)}};
}

Json array_of(const auto& items) {
  auto json = Json::array();
  for (const auto& item : items) json.push_back(to_json(item));
  return json;
}

}  // namespace

void to_json(nlohmann::json& json, const DataSheet& sheet) {
  json = {{"schema", kSchemaVersion},
          {"kind", "calibration"},
          {"kept", sheet.kept()},
          {"provenance", sheet.provenance},
          {"host", sheet.conditions.host},
          {"findings", sheet.conditions.findings},
          {"batches", sheet.effort.batches},
          {"warmup", sheet.effort.warmup},
          {"repetitions", sheet.effort.repetitions},
          {"cpus", sheet.cpus},
          {"emulated_network", calibration_network()},
          {"relative_bound", kRelativeBound},
          {"absolute_bound_ns", kAbsoluteBoundNs},
          {"summary", array_of(sheet.summary())},
          {"cells", array_of(sheet.cells)}};
}

namespace {

constexpr const char* kWhat = "data sheet";
constexpr const char* kHowToMakeOne = "`paretopipe calibrate --format json --out FILE` writes a data sheet";

Cell read_cell(const Json& json) {
  const Cell cell{Nanoseconds(json.at("compute_ns").get<std::int64_t>()), json.at("payload_bytes").get<std::int64_t>(),
                  json.at("network") == "emulated"};
  if (cell.compute.count() < 1 || cell.payload_bytes < 1) {
    throw UsageError("a cell of the data sheet has no compute time or no payload: was it edited by hand?");
  }
  return cell;
}

Reading& find_reading(CellResult& result, const Json& quantity) {
  const auto is_it = [&](const Reading& reading) { return quantity == Json(reading.quantity->name); };
  const auto found = std::find_if(result.readings.begin(), result.readings.end(), is_it);
  if (found != result.readings.end()) return *found;
  throw UsageError(fmt::format("the data sheet's quantity {} is unknown; use a newer paretopipe", quantity.dump()));
}

void read_reading(const Json& json, CellResult& result) {
  auto& reading = find_reading(result, json.at("quantity"));
  json.at("measured_ns").get_to(reading.measured_ns);
  if (!json.contains("error_ns")) return;
  reading.error = Deviation{.truth_ns = json.at("truth_ns").get<double>(),
                            .median_ns = json.at("error_ns").get<double>(),
                            .worst_ns = json.at("worst_error_ns").get<double>()};
}

CellResult read_cell_result(const Json& json) {
  CellResult result{read_cell(json), {}, {}};
  for (const auto& quantity : quantities()) result.readings.push_back({.quantity = &quantity});
  for (const auto& reading : json.at("readings")) read_reading(reading, result);
  if (json.contains("failures")) json["failures"].get_to(result.failures);
  if (json.contains("disturbances")) json["disturbances"].get_to(result.disturbances);
  return result;
}

DataSheet read_fields(const Json& json) {
  DataSheet sheet;
  json.at("provenance").get_to(sheet.provenance);
  json.at("host").get_to(sheet.conditions.host);
  json.at("findings").get_to(sheet.conditions.findings);
  json.at("batches").get_to(sheet.effort.batches);
  json.at("warmup").get_to(sheet.effort.warmup);
  json.at("repetitions").get_to(sheet.effort.repetitions);
  json.at("cpus").get_to(sheet.cpus);
  for (const auto& cell : json.at("cells")) sheet.cells.push_back(read_cell_result(cell));
  return sheet;
}

Json read_json(const std::filesystem::path& file) {
  try {
    return experiment::read_json_file(file, kWhat);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}; {}", error.what(), kHowToMakeOne));
  }
}

}  // namespace

void from_json(const nlohmann::json& json, DataSheet& sheet) {
  if (!json.is_object() || json.value("kind", Json()) != "calibration") {
    throw UsageError(
        fmt::format("this is not a data sheet: it has no \"kind\" that says calibration; {}", kHowToMakeOne));
  }
  check_schema(json, kSchemaVersion, kWhat);
  try {
    sheet = read_fields(json);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("the data sheet lacks a field or has one of the wrong type ({})", reason_of(error)));
  }
  check_understood(json, sheet, kWhat);
}

DataSheet read_data_sheet(const std::filesystem::path& file) {
  const auto json = read_json(file);
  return with_prefix(file.string() + ": ", [&] { return json.get<DataSheet>(); });
}

}  // namespace paretopipe::calibration
