#include <paretopipe/core/split.hpp>

#include <charconv>

namespace paretopipe {

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> items;
  for (;;) {
    const auto comma = text.find(',');
    items.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::vector<int>> parse_numbers(std::string_view text) {
  std::vector<int> numbers;
  for (const auto item : split_at_commas(text)) {
    int number = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc{} || end != item.data() + item.size() || number < 0) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace paretopipe
