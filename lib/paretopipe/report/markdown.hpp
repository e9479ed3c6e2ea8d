#pragma once
#include <paretopipe/report/table.hpp>

#include <string>
#include <string_view>
#include <vector>

/// GitHub-flavoured Markdown.
namespace paretopipe::report {

/// Text that Markdown shows as it is, on one line: what would start a cell, a tag, a link or code is escaped.
std::string markdown_escaped(std::string_view text);

/// One row of a table, its cells escaped; in bold, but for the empty ones, if wanted.
std::string markdown_line(const std::vector<std::string>& cells, bool bold = false);

/// A whole table; the rows whose flag is set in bold, none where there are no flags.
std::string markdown_table(const std::vector<Table::Column>& columns, const std::vector<std::vector<std::string>>& rows,
                           const std::vector<bool>& bold = {});

}  // namespace paretopipe::report
