#pragma once
#include <paretopipe/calibration/data_sheet.hpp>

#include <string>

namespace paretopipe::calibration {

/// For a terminal: what was measured on which machine, the errors of every cell and over all cells, and every broken
/// promise.
std::string render_text(const DataSheet& sheet);

/// The same for a README or a pull request.
std::string render_markdown(const DataSheet& sheet);

/// Everything, as indented JSON (results/README.md).
std::string render_json(const DataSheet& sheet);

/// Says in one sentence how many errors are within the promise, for a person who has the sheet in a file.
std::string verdict(const DataSheet& sheet);

}  // namespace paretopipe::calibration
