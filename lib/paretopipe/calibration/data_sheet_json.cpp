#include <paretopipe/calibration/data_sheet.hpp>
#include <paretopipe/calibration/render.hpp>

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

std::string render_json(const DataSheet& sheet) {
  return Json(sheet).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace paretopipe::calibration
