#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::page {

/// Throws EnvironmentError, which says what to do, if this was built without the charting library, and therefore
/// without the page.
void require_renderer();

/// One HTML file that shows `data` (make_page_data) and is self-contained: it includes styles, scripts and the charting
/// library, and its Content-Security-Policy forbids loading anything or running any other script. Throws what
/// require_renderer() throws.
std::string render_page(const nlohmann::ordered_json& data);

}  // namespace paretopipe::page
