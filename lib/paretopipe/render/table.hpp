#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::render {

/// What the reader's terminal can show.
struct TextStyle {
  int width = 80;       ///< columns
  bool colour = false;  ///< ANSI escape sequences
  bool unicode = true;  ///< UTF-8; otherwise plain ASCII
};

enum class Align { left, right };

/// A table with aligned columns for a terminal.
class Table {
 public:
  struct Column {
    std::string heading;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column. A highlighted row is bold green if colour is available.
  void add_row(std::vector<std::string> cells, bool highlighted = false);

  /// The number of terminal columns that it takes.
  std::size_t width() const;

  /// Heading, rule, rows. Every line ends with a newline and has no blanks before it.
  std::string to_text(const TextStyle& style = {}) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool highlighted = false;
  };

  std::vector<std::size_t> column_widths() const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// The columns of UTF-8 text, one per code point: correct except for wide and combining characters.
std::size_t display_width(std::string_view text);

/// `text` in bold green if colour is available.
std::string highlight(std::string_view text, const TextStyle& style);

// GitHub-flavoured Markdown.

/// Text that Markdown shows unchanged, on one line: escapes what would start a cell, a tag, a link or code.
std::string markdown_escaped(std::string_view text);

/// One row of a table with escaped cells; if `bold`, all but empty cells are bold.
std::string markdown_line(const std::vector<std::string>& cells, bool bold = false);

/// A whole table. Rows whose flag is set are bold; without flags none is.
std::string markdown_table(const std::vector<Table::Column>& columns, const std::vector<std::vector<std::string>>& rows,
                           const std::vector<bool>& bold = {});

/// One record of RFC 4180, ended by only a line feed (as Unix tools expect). Cells with a comma, a quote or a line
/// break are quoted; quotes within them are doubled.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace paretopipe::render
