#include <paretopipe/core/units.hpp>
#include <paretopipe/render/sheet_tables.hpp>

#include <cmath>

#include <fmt/format.h>

namespace paretopipe::render {

namespace {

std::string signed_duration(double ns) {
  return fmt::format("{}{}", ns < 0 ? "-" : "+", format_duration(std::abs(ns)));
}

std::string error_cell(const calibration::Reading& reading) {
  if (!reading.error) return "-";
  return fmt::format("{}{}", signed_duration(reading.error->median_ns), reading.error->kept() ? "" : " !");
}

std::string duration_text(Nanoseconds duration) {
  return format_duration(static_cast<double>(duration.count()));
}

}  // namespace

TextTable error_table(const calibration::DataSheet& sheet) {
  TextTable table{{"network", "blocks", "payload B"}, 1, {}};
  for (const auto& quantity : calibration::quantities()) table.headings.emplace_back(quantity.heading);
  for (const auto& result : sheet.cells) {
    const auto& cell = result.cell;
    std::vector<std::string> row{cell.emulated ? "emulated" : "loopback", duration_text(cell.compute),
                                 std::to_string(cell.payload_bytes)};
    for (const auto& reading : result.readings) row.push_back(error_cell(reading));
    table.rows.push_back(std::move(row));
  }
  return table;
}

TextTable summary_table(const calibration::DataSheet& sheet) {
  TextTable table{{"quantity", "worst cell", "cells", "kept", "median error", "worst error"}, 2, {}};
  for (const auto& summary : sheet.summary()) {
    table.rows.push_back({std::string(summary.quantity->name), calibration::describe(summary.worst_cell),
                          std::to_string(summary.cells), std::to_string(summary.kept),
                          format_duration(summary.median_error_ns), signed_duration(summary.worst_error_ns)});
  }
  return table;
}

std::vector<std::string> preamble(const calibration::DataSheet& sheet) {
  const auto& host = sheet.conditions.host;
  const auto network = calibration::calibration_network().forward;
  return {fmt::format("paretopipe {} on {} ({} CPUs, {}), {}", sheet.provenance.version, host.hostname, host.cpu_count,
                      host.cpu_model, sheet.provenance.started_at),
          fmt::format("Error = measured - truth, the median over {} repetition(s) of {} batches after {} to warm up. "
                      "Promised: within {:g} % of the truth or {}, whichever is larger; ! marks what is not.",
                      sheet.effort.repetitions, sheet.effort.batches, sheet.effort.warmup,
                      calibration::kRelativeBound * 100, format_duration(calibration::kAbsoluteBoundNs)),
          fmt::format("Truth: synthetic blocks take the time they are told; over the emulated network a transfer takes "
                      "d + B/r ({}). How long the bare loopback takes is not known, so no error is stated for it.",
                      experiment::describe(network))};
}

std::vector<std::string> remarks(const calibration::DataSheet& sheet) {
  std::vector<std::string> sentences;
  for (const auto& finding : sheet.conditions.findings) {
    sentences.push_back(fmt::format("Before it began ({}: {}): {}.", finding.name, finding.observed, finding.why));
  }
  std::size_t disturbed = 0;
  std::string example;
  for (const auto& result : sheet.cells) {
    for (const auto& failure : result.failures)
      sentences.push_back(fmt::format("{}: no result ({})", calibration::describe(result.cell), failure));
    if (disturbed == 0 && !result.disturbances.empty())
      example = fmt::format("{}, {}", calibration::describe(result.cell), result.disturbances.front());
    disturbed += result.disturbances.size();
  }
  if (disturbed > 0)
    sentences.push_back(
        fmt::format("{} trial(s) were disturbed, and the errors contain it; the first: {}.", disturbed, example));
  return sentences;
}

}  // namespace paretopipe::render
