#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace paretopipe {

/// What stands between the commas of a text, which must outlive it: one item more than there are commas, empty ones
/// included.
std::vector<std::string_view> split_at_commas(std::string_view text);

/// "4,9,14": numbers from 0 on with commas between them, in any order. None for anything else.
std::optional<std::vector<int>> parse_numbers(std::string_view text);

}  // namespace paretopipe
