#include <paretopipe/report/format.hpp>
#include <paretopipe/report/markdown.hpp>

#include <fmt/format.h>

namespace paretopipe::report {

std::string markdown_escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("|<>&`*[]\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string markdown_line(const std::vector<std::string>& cells, bool bold) {
  std::string text = "|";
  for (const auto& cell : cells) {
    const auto shown = markdown_escaped(cell);
    text += bold && !cell.empty() ? fmt::format(" **{}** |", shown) : fmt::format(" {} |", shown);
  }
  return text + '\n';
}

std::string markdown_table(const std::vector<Table::Column>& columns, const std::vector<std::vector<std::string>>& rows,
                           const std::vector<bool>& bold) {
  std::vector<std::string> headings;
  std::string rule = "|";
  for (const auto& column : columns) {
    headings.push_back(column.heading);
    rule += column.align == Align::right ? " ---: |" : " --- |";
  }
  auto text = markdown_line(headings) + rule + '\n';
  for (std::size_t i = 0; i < rows.size(); ++i) text += markdown_line(rows[i], i < bold.size() && bold[i]);
  return text;
}

}  // namespace paretopipe::report
