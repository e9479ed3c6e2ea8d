#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

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
    // A one-letter word is one edit away from every other one, but a suggestion must keep at least one letter.
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

void refuse_word(const char* key, const std::string& text, const std::vector<std::string>& known) {
  throw UsageError(
      fmt::format("{} is \"{}\"; it must be {}{}", key, text, fmt::join(known, " or "), did_you_mean(text, known)));
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> items;
  for (;;) {
    const auto comma = text.find(',');
    items.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);  // npos + 1 is 0
}

void add_once(std::vector<std::string>& items, std::string item) {
  if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(std::move(item));
}

std::optional<std::vector<int>> parse_numbers(std::string_view text) {
  std::vector<int> numbers;
  for (const auto item : split_at_commas(text)) {
    const auto number = parse_number<int>(item);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

namespace {

/// Reads one number and moves `text` behind it.
std::optional<int> take_number(std::string_view& text, int max) {
  if (text.starts_with('-')) return std::nullopt;  // from_chars would accept the sign
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > max) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

/// Reads "a" or "a-b", appends its numbers and moves `text` behind it.
bool take_range(std::string_view& text, int max, std::vector<int>& numbers) {
  const auto first = take_number(text, max);
  auto last = first;
  if (first && text.starts_with('-')) {
    text.remove_prefix(1);
    last = take_number(text, max);
  }
  if (!first || !last || *last < *first) return false;
  for (int number = *first; number <= *last; ++number) numbers.push_back(number);
  return true;
}

}  // namespace

std::optional<std::vector<int>> parse_number_list(std::string_view text, int max) {
  std::vector<int> numbers;
  while (take_range(text, max, numbers)) {
    if (text.empty()) {
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      return numbers;
    }
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

std::string format_number_list(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", numbers[first]) : fmt::format("{}-{}", numbers[first], numbers[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace paretopipe
