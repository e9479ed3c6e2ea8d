#pragma once
#include <paretopipe/analysis/calibration/data_sheet.hpp>

#include <string>

namespace paretopipe::render {

/// For a terminal: what was measured on which machine, the errors of every cell and over all cells, and every broken
/// promise.
std::string render_text(const calibration::DataSheet& sheet);

/// The same for a README or a pull request.
std::string render_markdown(const calibration::DataSheet& sheet);

/// Everything, as indented JSON (results/README.md).
std::string render_json(const calibration::DataSheet& sheet);

/// Says in one sentence how many errors are within the promise, for a person who has the sheet in a file.
std::string verdict(const calibration::DataSheet& sheet);

}  // namespace paretopipe::render
