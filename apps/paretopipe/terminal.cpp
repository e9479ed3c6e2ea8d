#include "terminal.hpp"

#include <paretopipe/report/output.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace paretopipe::cli {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The terminal's width; the traditional one for a file or pipe.
int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return report::TextStyle{}.width;
}

/// True if the locale for characters (POSIX: LC_ALL over LC_CTYPE over LANG) uses UTF-8.
bool locale_is_utf8() {
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto value = environment(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

report::TextStyle text_style(const std::string& out) {
  if (!out.empty()) return {.unicode = locale_is_utf8()};
  // https://no-color.org: any value but an empty one.
  const bool colour = ::isatty(STDOUT_FILENO) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {.width = terminal_width(), .colour = colour, .unicode = locale_is_utf8()};
}

void deliver(std::string_view text, const std::string& out) {
  if (out.empty()) {
    report::write_standard_output(text);
  } else {
    report::write_file(out, text);
  }
}

}  // namespace paretopipe::cli
