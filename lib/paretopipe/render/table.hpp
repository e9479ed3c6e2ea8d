#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace paretopipe::render {

/// What the reader's terminal can show.
struct TextStyle {
  int width = 80;       ///< columns
  bool colour = false;  ///< ANSI escape sequences
  bool unicode = true;  ///< UTF-8; otherwise plain ASCII
};

enum class Align { left, right };

/// A table for people, in whatever medium.
class Table {
 public:
  struct Column {
    std::string heading;
    Align align = Align::left;
    int dispensable = 0;  ///< the highest is left out first if space is short; 0 never is
  };

  explicit Table(std::vector<Column> columns = {}) : columns_(std::move(columns)) {}

  /// One cell per column. A stressed row is bold, on a terminal also green if colour is available.
  void add_row(std::vector<std::string> cells, bool stressed = false);

  /// One cell per row. The first column makes the rows.
  void add_column(Column column, std::vector<std::string> cells);

  void stress(std::size_t row) { stressed_.at(row) = true; }

  bool empty() const { return rows_.empty(); }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

  /// Heading, rule, rows, with aligned columns. Every line ends with a newline and has no blanks before it.
  std::string to_text(const TextStyle& style = {}) const;

  /// As many columns as fit the style's width; the others are left out and named below.
  std::string to_fitting_text(const TextStyle& style) const;

  /// GitHub's dialect, with escaped cells.
  std::string to_markdown() const;

 private:
  std::vector<std::size_t> column_widths() const;
  std::size_t width() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> stressed_;
};

/// The columns of UTF-8 text, one per code point: correct except for wide and combining characters.
std::size_t display_width(std::string_view text);

/// `text` in bold green if colour is available.
std::string highlight(std::string_view text, const TextStyle& style);

/// Text that Markdown shows unchanged, on one line: escapes what would start a cell, a tag, a link or code.
std::string markdown_escaped(std::string_view text);

/// A list in Markdown, with an escaped item for each sentence.
std::string markdown_list(const std::vector<std::string>& sentences);

/// Text for an element or an attribute's value of XML 1.0 (SVG, JUnit), on one line.
std::string xml_escaped(std::string_view text);

/// One record of RFC 4180, ended by only a line feed (as Unix tools expect). Cells with a comma, a quote or a line
/// break are quoted; quotes within them are doubled.
std::string csv_line(const std::vector<std::string>& cells);

/// A number as a cell for programs, empty if there is none.
std::string csv_cell(std::optional<double> number);
std::string csv_cell(std::optional<std::int64_t> number);

/// Indented JSON. File names need not be UTF-8, but JSON must be: other bytes become U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace paretopipe::render
