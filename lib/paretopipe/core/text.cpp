#include <paretopipe/core/error.hpp>
#include <paretopipe/core/text.hpp>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

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

std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char character : text) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

std::string word_of_shell(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_./:=,@%+-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain) ? text : quoted_for_shell(text);
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> items;
  for (;;) {
    const auto end = text.find(separator);
    items.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return items;
    text.remove_prefix(end + 1);
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
  for (const auto item : split(text)) {
    const auto number = parse_number<int>(item);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::vector<int>> parse_number_list(std::string_view text, int max) {
  std::set<int> numbers;
  for (const auto range : split(text)) {
    const auto dash = range.find('-');
    // Unsigned, since a sign is no part of a list.
    const auto first = parse_number<unsigned>(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<unsigned>(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last > static_cast<unsigned>(max)) return std::nullopt;
    for (auto number = *first; number <= *last; ++number) numbers.insert(numbers.end(), static_cast<int>(number));
  }
  return std::vector<int>(numbers.begin(), numbers.end());
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
