#pragma once
#include <string>
#include <vector>

namespace paretopipe::report {

/// One record of RFC 4180, ended by only a line feed (as Unix tools expect). Cells with a comma, a quote or a line
/// break are quoted; quotes within them are doubled.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace paretopipe::report
