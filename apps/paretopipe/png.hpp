#pragma once
#include <string>
#include <string_view>

namespace paretopipe::cli {

/// Throws EnvironmentError, naming the package to install, where render_png would not find its program.
void require_png_renderer();

/// An SVG as PNG, with twice as many pixels as the SVG's size says, drawn by the program rsvg-convert. Throws
/// EnvironmentError if that is missing or fails. Writes no file.
std::string render_png(std::string_view svg);

}  // namespace paretopipe::cli
