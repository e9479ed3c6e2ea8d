#include <paretopipe/compute/number_lines.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/weights/bytes.hpp>
#include <paretopipe/weights/mapped_file.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace paretopipe::compute {
namespace {

constexpr std::string_view kBlanks = " \t";

[[noreturn]] void refuse(const std::filesystem::path& file, std::size_t line, const std::string& reason) {
  throw UsageError(fmt::format("read numbers from {}: line {} {}", file.string(), line, reason));
}

/// Removes the first line from `rest` and returns it.
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  auto line = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const auto word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

}  // namespace

std::vector<std::vector<std::int64_t>> read_number_lines(const std::filesystem::path& file) {
  const weights::MappedFile mapped(file);
  auto rest = weights::text_of(mapped.bytes());
  if (rest.empty()) throw UsageError(fmt::format("read numbers from {}: it is empty", file.string()));
  std::vector<std::vector<std::int64_t>> lines;
  while (!rest.empty()) {
    auto line = take_line(rest);
    auto& numbers = lines.emplace_back();
    for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
      auto& number = numbers.emplace_back();
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      const bool whole = error == std::errc{} && end == word.data() + word.size() && number >= 0;
      if (!whole) refuse(file, lines.size(), fmt::format("holds {}, no whole number from 0", weights::in_quotes(word)));
    }
    if (numbers.empty()) refuse(file, lines.size(), "holds no number");
  }
  return lines;
}

std::vector<std::int64_t> read_labels(const std::filesystem::path& file) {
  std::vector<std::int64_t> labels;
  for (const auto& numbers : read_number_lines(file)) {
    if (numbers.size() > 1) {
      refuse(file, labels.size() + 1, fmt::format("holds {} numbers, not the class of one sample", numbers.size()));
    }
    labels.push_back(numbers.front());
  }
  return labels;
}

}  // namespace paretopipe::compute
