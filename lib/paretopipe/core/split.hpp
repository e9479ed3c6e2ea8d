#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace paretopipe {

/// Splits `text` at its commas. Returns views into `text`, which must outlive them. The result has one item more than
/// there are commas; items may be empty.
std::vector<std::string_view> split_at_commas(std::string_view text);

/// Parses "4,9,14": non-negative numbers separated by commas, in any order. None for anything else.
std::optional<std::vector<int>> parse_numbers(std::string_view text);

}  // namespace paretopipe
