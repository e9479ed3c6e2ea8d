#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace paretopipe::page {

/// Throws EnvironmentError, saying how to mend it, if this was built without the charting library: without it there is
/// no page.
void require_renderer();

/// One file of HTML that shows `data` (make_page_data) and needs nothing else: styles, scripts and the charting library
/// are in it, and its Content-Security-Policy forbids it to load anything or to run any other script. Throws
/// what require_renderer() throws.
std::string render_page(const nlohmann::ordered_json& data);

}  // namespace paretopipe::page
