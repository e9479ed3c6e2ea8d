#pragma once
#include <paretopipe/report/text_style.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::report {

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

}  // namespace paretopipe::report
