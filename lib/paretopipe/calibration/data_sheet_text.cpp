#include <paretopipe/calibration/render.hpp>
#include <paretopipe/calibration/sheet_tables.hpp>
#include <paretopipe/report/format.hpp>
#include <paretopipe/report/markdown.hpp>
#include <paretopipe/report/table.hpp>

#include <fmt/format.h>

namespace paretopipe::calibration {
namespace {

std::string plain(const TextTable& table) {
  std::vector<report::Table::Column> columns;
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    columns.push_back({table.headings[i], i < table.left_columns ? report::Align::left : report::Align::right});
  }
  report::Table text(std::move(columns));
  for (const auto& row : table.rows) text.add_row(row);
  return text.to_text();
}

std::string markdown(const TextTable& table) {
  auto text = report::markdown_line(table.headings) + '|';
  for (std::size_t i = 0; i < table.headings.size(); ++i) text += i < table.left_columns ? " --- |" : " ---: |";
  text += '\n';
  for (const auto& row : table.rows) text += report::markdown_line(row);
  return text;
}

}  // namespace

std::string render_text(const DataSheet& sheet) {
  std::string text;
  for (const auto& sentence : preamble(sheet)) text += fmt::format("{}\n", report::printable(sentence));
  text += fmt::format("\n{}\n{}\n", plain(error_table(sheet)), plain(summary_table(sheet)));
  for (const auto& sentence : remarks(sheet)) text += fmt::format("{}\n", report::printable(sentence));
  return fmt::format("{}{}\n", text, verdict(sheet));
}

std::string render_markdown(const DataSheet& sheet) {
  std::string text = "### Data sheet of the instrument\n\n";
  text += fmt::format("{}\n\n", report::markdown_escaped(verdict(sheet)));
  for (const auto& sentence : preamble(sheet)) text += fmt::format("- {}\n", report::markdown_escaped(sentence));
  for (const auto& sentence : remarks(sheet)) text += fmt::format("- {}\n", report::markdown_escaped(sentence));
  return fmt::format("{}\n{}\n{}", text, markdown(summary_table(sheet)), markdown(error_table(sheet)));
}

std::string verdict(const DataSheet& sheet) {
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

}  // namespace paretopipe::calibration
