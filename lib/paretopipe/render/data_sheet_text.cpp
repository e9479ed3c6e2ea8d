#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/render_data_sheet.hpp>
#include <paretopipe/render/sheet_tables.hpp>
#include <paretopipe/render/table.hpp>

#include <fmt/format.h>

namespace paretopipe::render {

namespace {

std::string plain(const TextTable& table) {
  std::vector<Table::Column> columns;
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    columns.push_back({table.headings[i], i < table.left_columns ? Align::left : Align::right});
  }
  Table text(std::move(columns));
  for (const auto& row : table.rows) text.add_row(row);
  return text.to_text();
}

std::string markdown(const TextTable& table) {
  auto text = markdown_line(table.headings) + '|';
  for (std::size_t i = 0; i < table.headings.size(); ++i) text += i < table.left_columns ? " --- |" : " ---: |";
  text += '\n';
  for (const auto& row : table.rows) text += markdown_line(row);
  return text;
}

}  // namespace

std::string render_text(const calibration::DataSheet& sheet) {
  std::string text;
  for (const auto& sentence : preamble(sheet)) text += fmt::format("{}\n", record::printable(sentence));
  text += fmt::format("\n{}\n{}\n", plain(error_table(sheet)), plain(summary_table(sheet)));
  for (const auto& sentence : remarks(sheet)) text += fmt::format("{}\n", record::printable(sentence));
  return fmt::format("{}{}\n", text, verdict(sheet));
}

std::string render_markdown(const calibration::DataSheet& sheet) {
  std::string text = "### Data sheet of the instrument\n\n";
  text += fmt::format("{}\n\n", markdown_escaped(verdict(sheet)));
  for (const auto& sentence : preamble(sheet)) text += fmt::format("- {}\n", markdown_escaped(sentence));
  for (const auto& sentence : remarks(sheet)) text += fmt::format("- {}\n", markdown_escaped(sentence));
  return fmt::format("{}\n{}\n{}", text, markdown(summary_table(sheet)), markdown(error_table(sheet)));
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
  return nlohmann::json(sheet).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace paretopipe::render
