#pragma once
#include <paretopipe/analysis/calibration/data_sheet.hpp>
#include <paretopipe/render/table.hpp>

#include <string>
#include <vector>

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

// As tables and sentences, independent of the output format.

/// The median error of every quantity in every cell: "+31.2 us", followed by " !" where it breaks the promise, or "-"
/// where the truth or the measurement is missing.
Table error_table(const calibration::DataSheet& sheet);

/// One row per quantity, over all cells.
Table summary_table(const calibration::DataSheet& sheet);

/// Sentences that say what ran on which machine and what the numbers mean.
std::vector<std::string> preamble(const calibration::DataSheet& sheet);

/// Sentences on what a reader must know before believing the numbers: failures, or a machine that was not at rest.
/// Often none.
std::vector<std::string> remarks(const calibration::DataSheet& sheet);

}  // namespace paretopipe::render
