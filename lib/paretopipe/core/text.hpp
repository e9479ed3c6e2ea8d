#pragma once
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace paretopipe {

/// The candidate that `word` is most likely a misspelling of: the one with the fewest single-character edits and swaps
/// of neighbours, at most one per three characters. None if nothing is that close.
std::optional<std::string> closest_word(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean \"batch\"?", or an empty text: a suffix for an error that refuses `word`.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// One value of an enum as people and files write it. The values of an enum are a constexpr array of these, said once
/// for both directions.
template <class Enum>
struct Word {
  Enum value;
  const char* word;
};

/// Empty for a value that has no word.
template <class Enum, std::size_t count>
constexpr const char* word_of(const Word<Enum> (&words)[count], Enum value) {
  for (const auto& each : words) {
    if (each.value == value) return each.word;
  }
  return "";
}

template <class Enum, std::size_t count>
std::optional<Enum> find_word(const Word<Enum> (&words)[count], std::string_view text) {
  for (const auto& each : words) {
    if (each.word == text) return each.value;
  }
  return std::nullopt;
}

template <class Enum, std::size_t count>
std::vector<std::string> all_words(const Word<Enum> (&words)[count]) {
  std::vector<std::string> all;
  for (const auto& each : words) all.emplace_back(each.word);
  return all;
}

/// Throws UsageError: "task is "trian"; it must be infer or train; did you mean "train"?".
[[noreturn]] void refuse_word(const char* key, const std::string& text, const std::vector<std::string>& known);

/// The value whose word is `text`. Throws UsageError that begins with `key`, the setting, and lists the words.
template <class Enum, std::size_t count>
Enum parse_word(const char* key, const Word<Enum> (&words)[count], const std::string& text) {
  if (const auto found = find_word(words, text)) return *found;
  refuse_word(key, text, all_words(words));
}

/// True if the text is valid UTF-8 (RFC 3629), so that JSON can hold it. Paths on Linux need not be.
bool is_utf8(const std::string& text);

/// One word of the shell that means `text`, whatever is in it (POSIX, Shell Command Language, 2.2.2).
std::string quoted_for_shell(const std::string& text);

/// Quotes `text` only where the shell needs it, for people to read.
std::string word_of_shell(const std::string& text);

/// Splits `text` at each separator. Returns views into `text`, which must outlive them. The result has one item more
/// than there are separators; items may be empty.
std::vector<std::string_view> split(std::string_view text, char separator = ',');

/// `text` without the `blanks` at its ends. Returns a view into `text`.
std::string_view trimmed(std::string_view text, std::string_view blanks = " ");

/// Appends `item` unless `items` has it already.
void add_once(std::vector<std::string>& items, std::string item);

/// Reads the whole text as one number, as std::from_chars does: without blanks or a plus sign. Only whole numbers may
/// have a base. None for anything else and for a number out of range.
template <class Number, class... Base>
std::optional<Number> parse_number(std::string_view text, Base... base) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base...);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

/// Parses "4,9,14": non-negative numbers separated by commas, in any order. None for anything else.
std::optional<std::vector<int>> parse_numbers(std::string_view text);

/// Parses "3" or "0-3,8", the format in which the kernel writes CPUs and we also write split points. The numbers are
/// returned ascending and unique, whatever their order in the text. None for anything else: an empty text, blanks, a
/// sign, a descending range, or a number above `max` (which also bounds what a mistyped range can allocate).
std::optional<std::vector<int>> parse_number_list(std::string_view text, int max);

/// Writes ascending, unique numbers as the shortest such text; empty if there are none.
std::string format_number_list(const std::vector<int>& numbers);

/// Prints a notice for the person at the terminal to stderr, in one write. Write errors are ignored: there is nobody
/// left to tell, and neither a measurement nor an exit code may depend on who still reads a pipe. Throws only what
/// formatting throws.
template <class... Args>
void print_notice(fmt::format_string<Args...> format, Args&&... args) {
  const auto text = fmt::format(format, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace paretopipe
