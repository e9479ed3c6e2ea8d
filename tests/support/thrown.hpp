#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include <support/catch.hpp>

namespace paretopipe::support {

/// Checks that `action` throws an E whose message contains all parts.
template <class E, class Action>
void check_throws(Action action, std::initializer_list<std::string_view> parts) {
  try {
    action();
  } catch (const E& error) {
    const std::string message = error.what();
    for (const auto part : parts) {
      INFO("looking for \"" << std::string(part) << "\" in: " << message);
      CHECK(message.find(part) != std::string::npos);
    }
    return;
  }
  FAIL("nothing was thrown");
}

}  // namespace paretopipe::support
