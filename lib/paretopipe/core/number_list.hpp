#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe {

/// Parses "3" or "0-3,8", the format in which the kernel writes CPUs and we also write split points. The numbers are
/// returned ascending and unique, whatever their order in the text. None for anything else: an empty text, blanks, a
/// sign, a descending range, or a number above `max` (which also bounds what a mistyped range can allocate).
std::optional<std::vector<int>> parse_number_list(std::string_view text, int max);

/// The shortest such text for ascending, unique numbers; empty if there are none.
std::string format_number_list(const std::vector<int>& numbers);

}  // namespace paretopipe
