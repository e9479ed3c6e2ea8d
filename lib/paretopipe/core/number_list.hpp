#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe {

/// "3", "0-3,8": the format in which the kernel writes CPUs, and we write split points too. The numbers come ascending
/// and unique, whatever the order of the text. None for anything else: an empty text, blanks, a sign, a range that runs
/// backwards, a number above `max` (which also bounds what a mistyped range can allocate).
std::optional<std::vector<int>> parse_number_list(std::string_view text, int max);

/// The shortest such text for ascending, unique numbers; empty for none.
std::string format_number_list(const std::vector<int>& numbers);

}  // namespace paretopipe
