#include <paretopipe/core/units.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_data_sheet.hpp>

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

}  // namespace

Table error_table(const calibration::DataSheet& sheet) {
  std::vector<Table::Column> columns{{"network"}, {"blocks", Align::right}, {"payload B", Align::right}};
  for (const auto& quantity : calibration::quantities()) {
    columns.push_back({std::string(quantity.heading), Align::right});
  }
  Table table(std::move(columns));
  for (const auto& result : sheet.cells) {
    const auto& cell = result.cell;
    std::vector<std::string> row{cell.emulated ? "emulated" : "loopback",
                                 format_duration(static_cast<double>(cell.compute.count())),
                                 std::to_string(cell.payload_bytes)};
    for (const auto& reading : result.readings) row.push_back(error_cell(reading));
    table.add_row(std::move(row));
  }
  return table;
}

Table summary_table(const calibration::DataSheet& sheet) {
  Table table({{"quantity"},
               {"worst cell"},
               {"cells", Align::right},
               {"kept", Align::right},
               {"median error", Align::right},
               {"worst error", Align::right}});
  for (const auto& summary : sheet.summary()) {
    table.add_row({std::string(summary.quantity->name), calibration::describe(summary.worst_cell),
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

std::string render_text(const calibration::DataSheet& sheet) {
  std::string text;
  for (const auto& sentence : preamble(sheet)) text += fmt::format("{}\n", record::printable(sentence));
  text += fmt::format("\n{}\n{}\n", error_table(sheet).to_text(), summary_table(sheet).to_text());
  for (const auto& sentence : remarks(sheet)) text += fmt::format("{}\n", record::printable(sentence));
  return fmt::format("{}{}\n", text, verdict(sheet));
}

std::string render_markdown(const calibration::DataSheet& sheet) {
  std::string text = "### Data sheet of the instrument\n\n";
  text += fmt::format("{}\n\n", markdown_escaped(verdict(sheet)));
  text += markdown_list(preamble(sheet)) + markdown_list(remarks(sheet));
  return fmt::format("{}\n{}\n{}", text, summary_table(sheet).to_markdown(), error_table(sheet).to_markdown());
}

std::string verdict(const calibration::DataSheet& sheet) {
  int cells = 0;
  int kept = 0;
  std::size_t failures = 0;
  for (const auto& summary : sheet.summary()) {
    cells += summary.cells;
    kept += summary.kept;
  }
  for (const auto& result : sheet.cells) failures += result.failures.size();
  const auto failed = failures == 0 ? "" : fmt::format("; {} trial(s) have no result", failures);
  return fmt::format("{}: {} of {} errors are within the promise{}", sheet.kept() ? "kept" : "MISSED", kept, cells,
                     failed);
}

std::string render_json(const calibration::DataSheet& sheet) {
  return json_text(nlohmann::json(sheet));
}

}  // namespace paretopipe::render
