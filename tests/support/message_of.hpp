#pragma once
#include <string>
#include <string_view>

namespace paretopipe::support {

/// What `action` throws as an `Exception`, as text; other exceptions pass. Says so if it throws nothing.
template <class Exception, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

/// Catch2 v2 and v3 name their substring matchers differently.
inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace paretopipe::support
