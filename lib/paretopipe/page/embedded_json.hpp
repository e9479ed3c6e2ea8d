#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::page {

/// `data` as text that is safe in a <script type="application/json"> element, whatever its strings hold. `<`, `>`, `&`
/// and the line ends of JavaScript that JSON does not know (U+2028, U+2029) are written as \uXXXX, so no string can end
/// the element or open a comment. JSON.parse returns the same strings; bytes that are not UTF-8 become U+FFFD.
std::string embedded_json(const nlohmann::ordered_json& data);

}  // namespace paretopipe::page
