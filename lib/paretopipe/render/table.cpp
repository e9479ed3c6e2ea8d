#include <paretopipe/core/text.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/table.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace paretopipe::render {

namespace {

constexpr std::size_t kGap = 2;

std::string aligned(const std::string& cell, std::size_t width, Align align) {
  const std::string padding(width - display_width(cell), ' ');
  return align == Align::left ? cell + padding : padding + cell;
}

/// One row of a table with escaped cells; if `bold`, all but empty cells are bold.
std::string markdown_line(const std::vector<std::string>& cells, bool bold) {
  std::string text = "|";
  for (const auto& cell : cells) {
    const auto shown = markdown_escaped(cell);
    text += bold && !cell.empty() ? fmt::format(" **{}** |", shown) : fmt::format(" {} |", shown);
  }
  return text + '\n';
}

}  // namespace

std::size_t display_width(std::string_view text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
}

std::string highlight(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\x1b[1;32m{}\x1b[0m", text) : std::string(text);
}

void Table::add_row(std::vector<std::string> cells, bool stressed) {
  if (cells.size() != columns_.size()) throw std::logic_error("a row needs one cell for each column");
  rows_.push_back(std::move(cells));
  stressed_.push_back(stressed);
}

void Table::add_column(Column column, std::vector<std::string> cells) {
  if (columns_.empty()) {
    rows_.resize(cells.size());
    stressed_.resize(cells.size());
  }
  if (cells.size() != rows_.size()) throw std::logic_error("a column needs one cell for each row");
  columns_.push_back(std::move(column));
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].push_back(std::move(cells[i]));
}

std::vector<std::size_t> Table::column_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::size_t width = display_width(columns_[column].heading);
    for (const auto& row : rows_) width = std::max(width, display_width(row[column]));
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
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };

  std::string text = line_of([&](std::size_t column) { return columns_[column].heading; }) + '\n';
  for (std::size_t i = 0; i < width(); ++i) text += style.unicode ? "─" : "-";
  text += '\n';
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto line = line_of([&](std::size_t column) { return rows_[row][column]; });
    text += (stressed_[row] ? highlight(line, style) : line) + '\n';
  }
  return text;
}

std::string Table::to_fitting_text(const TextStyle& style) const {
  Table fitting = *this;
  std::vector<std::string> left_out;
  while (fitting.width() > static_cast<std::size_t>(style.width)) {
    auto& columns = fitting.columns_;
    const auto first = std::max_element(columns.begin(), columns.end(), [](const Column& left, const Column& right) {
      return left.dispensable < right.dispensable;
    });
    if (first->dispensable == 0) break;
    const auto place = first - columns.begin();
    left_out.push_back(first->heading);
    columns.erase(first);
    for (auto& row : fitting.rows_) row.erase(row.begin() + place);
  }
  if (left_out.empty()) return fitting.to_text(style);
  return fmt::format("{}Left out for want of room: {}. All of it: --format markdown, csv or json.\n",
                     fitting.to_text(style), fmt::join(left_out, ", "));
}

std::string Table::to_markdown() const {
  std::vector<std::string> headings;
  std::string rule = "|";
  for (const auto& column : columns_) {
    headings.push_back(column.heading);
    rule += column.align == Align::right ? " ---: |" : " --- |";
  }
  auto text = markdown_line(headings, false) + rule + '\n';
  for (std::size_t row = 0; row < rows_.size(); ++row) text += markdown_line(rows_[row], stressed_[row]);
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

std::string markdown_list(const std::vector<std::string>& sentences) {
  std::string text;
  for (const auto& sentence : sentences) text += fmt::format("- {}\n", markdown_escaped(sentence));
  return text;
}

namespace {

/// True if `text` begins with U+FFFE (EF BF BE in UTF-8) or U+FFFF (EF BF BF). XML 1.0 forbids them, and printable(),
/// which removes control characters, leaves them in.
bool is_forbidden_in_xml(std::string_view text) {
  return text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::string_view kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
  auto clean = record::printable(text);
  if (!is_utf8(clean)) {  // a path on Linux need not be
    std::replace_if(
        clean.begin(), clean.end(), [](unsigned char c) { return c >= 0x80; }, '?');
  }
  std::string escaped;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const auto found = kSpecial.find(clean[i]);
    if (found != std::string_view::npos) {
      escaped += kEntities[found];
    } else if (is_forbidden_in_xml(std::string_view(clean).substr(i))) {
      escaped += '?';
      i += 2;
    } else {
      escaped += clean[i];
    }
  }
  return escaped;
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
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

std::string csv_cell(std::optional<double> number) {
  return number ? record::format_number(*number) : "";
}

std::string csv_cell(std::optional<std::int64_t> number) {
  return number ? std::to_string(*number) : "";
}

}  // namespace paretopipe::render
