#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace paretopipe::render {

namespace {

constexpr std::size_t kGap = 2;

std::string aligned(const std::string& cell, std::size_t width, Align align) {
  const std::string padding(width - display_width(cell), ' ');
  return align == Align::left ? cell + padding : padding + cell;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
}

std::string highlight(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\x1b[1;32m{}\x1b[0m", text) : std::string(text);
}

void Table::add_row(std::vector<std::string> cells, bool highlighted) {
  if (cells.size() != columns_.size()) throw std::logic_error("a row needs one cell for each column");
  rows_.push_back({std::move(cells), highlighted});
}

std::vector<std::size_t> Table::column_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::size_t width = display_width(columns_[column].heading);
    for (const auto& row : rows_) width = std::max(width, display_width(row.cells[column]));
    widths.push_back(width);
  }
  return widths;
}

std::size_t Table::width() const {
  const auto widths = column_widths();
  return std::accumulate(widths.begin(), widths.end(), widths.empty() ? 0 : kGap * (widths.size() - 1));
}

std::string Table::to_text(const TextStyle& style) const {
  const auto widths = column_widths();
  const auto line_of = [&](auto cell_at) {
    std::string line;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (column > 0) line.append(kGap, ' ');
      line += aligned(cell_at(column), widths[column], columns_[column].align);
    }
    return without_trailing_blanks(std::move(line));
  };

  std::string text = line_of([&](std::size_t column) { return columns_[column].heading; }) + '\n';
  for (std::size_t i = 0; i < width(); ++i) text += style.unicode ? "─" : "-";
  text += '\n';
  for (const auto& row : rows_) {
    const auto line = line_of([&](std::size_t column) { return row.cells[column]; });
    text += (row.highlighted ? highlight(line, style) : line) + '\n';
  }
  return text;
}

std::string markdown_escaped(std::string_view text) {
  std::string result;
  for (const char c : record::printable(text)) {
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

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  return line + '\n';
}

}  // namespace paretopipe::render
