#pragma once
#include <string>
#include <string_view>

namespace paretopipe::cli {

/// Throws EnvironmentError, which names the package to install, if render_png would not find its program.
void require_png_renderer();

/// Renders an SVG as PNG with the program rsvg-convert, with twice as many pixels as the SVG's size says. Throws
/// EnvironmentError if the program is missing or fails. Writes no file.
std::string render_png(std::string_view svg);

}  // namespace paretopipe::cli
