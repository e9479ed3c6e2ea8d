#include <paretopipe/script/code_depth.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace paretopipe::script {
namespace {

constexpr std::string_view kNesting = "([{.+-*/%~<>&|^@";
constexpr std::array<std::string_view, 7> kNestingWords{"and", "else", "for", "if", "lambda", "not", "or"};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Scans the code once, token by token. It recognises strings and comments exactly as LibTorch's lexer does; any
/// difference could be used to hide code.
class Statements {
 public:
  explicit Statements(std::string_view code) : rest_(code) {}

  std::size_t deepest() {
    indent();
    while (!rest_.empty()) step();
    return std::max(deepest_, nested_);
  }

 private:
  void step() {
    const char c = rest_.front();
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '#' && !rest_.starts_with("# type:")) return rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    if (rest_.starts_with("\\\n")) return rest_.remove_prefix(2);
    if (is_word(c)) return read_word();
    rest_.remove_prefix(1);
    if (kNesting.find(c) != kNesting.npos) ++nested_;
    if (c == '(' || c == '[' || c == '{') ++open_;
    if ((c == ')' || c == ']' || c == '}') && open_ > 0) --open_;
    if (c == '\n' && open_ == 0) end_statement();
  }

  /// Triple quotes end at the next triple quote. A single quote ends at the next one or at the end of the line. A
  /// character after a backslash ends nothing.
  void skip_string(char quote) {
    const bool triple = rest_.starts_with(std::string(3, quote));
    const std::string end(triple ? 3 : 1, quote);
    rest_.remove_prefix(end.size());
    while (!rest_.empty() && !rest_.starts_with(end)) {
      if (rest_.front() == '\n' && !triple) return;
      rest_.remove_prefix(std::min<std::size_t>(rest_.front() == '\\' ? 2 : 1, rest_.size()));
    }
    rest_.remove_prefix(std::min(end.size(), rest_.size()));
  }

  void read_word() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
    const auto word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    if (std::find(kNestingWords.begin(), kNestingWords.end(), word) != kNestingWords.end()) ++nested_;
    rest_.remove_prefix(word.size());
  }

  void end_statement() {
    deepest_ = std::max(deepest_, nested_);
    indent();
  }

  /// Counts each leading blank as a level, because a level takes at least one.
  void indent() { nested_ = std::min(rest_.find_first_not_of(" \t"), rest_.size()); }

  std::string_view rest_;
  std::size_t open_ = 0;    ///< open brackets
  std::size_t nested_ = 0;  ///< depth of this statement
  std::size_t deepest_ = 0;
};

}  // namespace

std::size_t deepest_statement(std::string_view code) {
  return Statements(code).deepest();
}

}  // namespace paretopipe::script
