#pragma once
#include <paretopipe/report/table.hpp>

#include <string>
#include <string_view>
#include <vector>

/// GitHub-flavoured Markdown.
namespace paretopipe::report {

/// Text that Markdown shows unchanged, on one line: escapes what would start a cell, a tag, a link or code.
std::string markdown_escaped(std::string_view text);

/// One row of a table with escaped cells; if `bold`, all but empty cells are bold.
std::string markdown_line(const std::vector<std::string>& cells, bool bold = false);

/// A whole table. Rows whose flag is set are bold; without flags none is.
std::string markdown_table(const std::vector<Table::Column>& columns, const std::vector<std::vector<std::string>>& rows,
                           const std::vector<bool>& bold = {});

}  // namespace paretopipe::report
