#include <paretopipe/core/suggest.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace paretopipe {
namespace {

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours (Damerau 1964).
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before_previous(right.size() + 1), previous(right.size() + 1), current(right.size() + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (std::size_t i = 1; i <= left.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
    before_previous.swap(previous);
    previous.swap(current);
  }
  return previous[right.size()];
}

}  // namespace

std::optional<std::string> closest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> closest;
  std::size_t allowed = std::max<std::size_t>(1, word.size() / 3);
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // A one-letter word is one edit away from every other one, but a suggestion must keep something of what was
    // written.
    if (distance > allowed || distance >= word.size()) continue;
    closest = candidate;
    if (distance == 0) break;
    allowed = distance - 1;
  }
  return closest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto closest = closest_word(word, candidates);
  return closest ? fmt::format("; did you mean \"{}\"?", *closest) : "";
}

}  // namespace paretopipe
