#include <paretopipe/wire/control_body.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paretopipe::wire {
namespace {

constexpr std::size_t kMaxReasonBytes = 240;

/// The nesting depth of arrays and objects in `text`. It is exact for JSON. For other text it is at least the depth
/// that a parser has built when it notices the error. (nlohmann's parser callback could count as well, but it looks
/// through all earlier siblings at the end of every object, which is quadratic in the length of a list.)
int nesting_depth(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

void check_depth(std::string_view text) {
  if (const int depth = nesting_depth(text); depth > kMaxJsonDepth) {
    throw ProtocolError(
        fmt::format("control message: expected JSON nested at most {} deep, got {}", kMaxJsonDepth, depth));
  }
}

}  // namespace

std::string encode_control_body(const nlohmann::json& message) {
  std::string text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxControlBytes) {
    throw ProtocolError(
        fmt::format("control message: {} bytes are to be sent, at most {} are allowed", text.size(), kMaxControlBytes));
  }
  check_depth(text);
  return text;
}

nlohmann::json decode_control_body(std::string_view text) {
  check_depth(text);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    // The parser quotes the offending token, however long it is.
    const auto reason = std::string_view(error.what()).substr(0, kMaxReasonBytes);
    throw ProtocolError(
        fmt::format("control message: expected JSON, got {} bytes that are not: {}", text.size(), reason));
  }
}

}  // namespace paretopipe::wire
