#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe {

/// The candidate that `word` is most likely a misspelling of: the one with the fewest single-character edits and swaps
/// of neighbours, at most one per three characters. None if nothing is that close.
std::optional<std::string> closest_word(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean \"batch\"?", or an empty text: a suffix for an error that refuses `word`.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace paretopipe
