#include <paretopipe/core/number_list.hpp>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace paretopipe {
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
