#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::page {

/// `data` as text that is safe in a <script type="application/json"> element, whatever its strings hold. `<`, `>`, `&`
/// and the line ends of JavaScript that JSON does not know (U+2028, U+2029) are written as \uXXXX, so no string can end
/// the element or open a comment. JSON.parse returns the same strings; bytes that are not UTF-8 become U+FFFD.
std::string embedded_json(const nlohmann::ordered_json& data);

/// Throws EnvironmentError, which says what to do, if this was built without the charting library, and therefore
/// without the page.
void require_renderer();

/// One HTML file that shows `data` (make_page_data) and is self-contained: it includes styles, scripts and the charting
/// library, and its Content-Security-Policy forbids loading anything or running any other script. Throws what
/// require_renderer() throws.
std::string render_page(const nlohmann::ordered_json& data);

}  // namespace paretopipe::page
