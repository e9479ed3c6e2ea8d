#pragma once
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

// The body of a control frame: one JSON value (RFC 8259), UTF-8. Pure; safe from any thread.
namespace paretopipe::wire {

/// nlohmann's parser and destructor are iterative, but copying, comparing and dumping recurse. Without a limit, a few
/// kilobytes of "[[[[…" would overflow the stack of any user of the value.
inline constexpr int kMaxJsonDepth = 64;

/// Bytes that are not UTF-8 (a file name in an error message) become U+FFFD, so that an error report always gets
/// through. Numbers that JSON lacks (infinity, NaN) become null. Throws ProtocolError if the text would be longer than
/// kMaxControlBytes or nested more deeply than kMaxJsonDepth.
std::string encode_control_body(const nlohmann::json& message);

/// Throws ProtocolError for anything but one JSON value, nested at most kMaxJsonDepth deep.
nlohmann::json decode_control_body(std::string_view text);

}  // namespace paretopipe::wire
