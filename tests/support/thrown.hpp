#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include <support/catch.hpp>
#include <support/message_of.hpp>

namespace paretopipe::support {

/// Checks that all parts are in the text.
inline void check_contains(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const auto part : parts) {
    INFO("looking for \"" << std::string(part) << "\" in: " << text);
    CHECK(text.find(part) != std::string::npos);
  }
}

/// Checks that `action` throws an E whose message contains all parts.
template <class E, class Action>
void check_throws(Action action, std::initializer_list<std::string_view> parts) {
  check_contains(support::message_of<E>(action), parts);
}

}  // namespace paretopipe::support
