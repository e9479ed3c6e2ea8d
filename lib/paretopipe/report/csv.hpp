#pragma once
#include <string>
#include <vector>

namespace paretopipe::report {

/// One record of RFC 4180, ended by a line feed alone (as Unix tools expect): cells that hold a comma, a quote or a
/// line break are quoted, quotes within are doubled.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace paretopipe::report
