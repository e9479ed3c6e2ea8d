#pragma once
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace paretopipe {

/// Prints a notice for the person at the terminal to stderr, in one write. Write errors are ignored: there is nobody
/// left to tell, and neither a measurement nor an exit code may depend on who still reads a pipe. Throws only what
/// formatting throws.
template <class... Args>
void print_notice(fmt::format_string<Args...> format, Args&&... args) {
  const auto text = fmt::format(format, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace paretopipe
