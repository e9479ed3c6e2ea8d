#pragma once
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace paretopipe {

/// Tells the person at the terminal something, on stderr, in one write. What cannot be written there is lost: nobody is
/// left to be told, and neither a measurement nor an exit code may depend on who still reads a pipe. Throws nothing but
/// what formatting throws.
template <class... Args>
void print_notice(fmt::format_string<Args...> format, Args&&... args) {
  const auto text = fmt::format(format, std::forward<Args>(args)...);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace paretopipe
