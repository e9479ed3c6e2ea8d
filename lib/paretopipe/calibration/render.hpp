#pragma once
#include <paretopipe/calibration/data_sheet.hpp>

#include <string>

namespace paretopipe::calibration {

/// For a terminal: what was measured on what, the errors of every cell and over all of them, and what was not kept.
std::string render_text(const DataSheet& sheet);

/// The same for a README or a pull request.
std::string render_markdown(const DataSheet& sheet);

/// Everything, indented (results/README.md).
std::string render_json(const DataSheet& sheet);

/// One sentence: how many errors are within the promise. For a person who has the sheet in a file.
std::string verdict(const DataSheet& sheet);

}  // namespace paretopipe::calibration
