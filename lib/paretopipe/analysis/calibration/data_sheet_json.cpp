#include <paretopipe/analysis/calibration/data_sheet.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json.hpp>
#include <paretopipe/experiment/json_file.hpp>
#include <paretopipe/render/render_data_sheet.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paretopipe::calibration {

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

using Json = nlohmann::json;

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
  return experiment::naming_file(file, [&] { return json.get<DataSheet>(); });
}

}  // namespace paretopipe::calibration
