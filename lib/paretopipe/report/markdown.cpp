#include <paretopipe/report/format.hpp>
#include <paretopipe/report/markdown.hpp>

#include <fmt/format.h>

namespace paretopipe::report {

std::string markdown_escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("|<>&`*[]\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string markdown_line(const std::vector<std::string>& cells, bool bold) {
  std::string text = "|";
  for (const auto& cell : cells) {
    const auto shown = markdown_escaped(cell);
    text += bold && !cell.empty() ? fmt::format(" **{}** |", shown) : fmt::format(" {} |", shown);
  }
  return text + '\n';
}

}  // namespace paretopipe::report
