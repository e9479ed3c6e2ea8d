#pragma once
#include <paretopipe/analysis/calibration/data_sheet.hpp>

#include <string>
#include <vector>

/// A data sheet as table cells and sentences, independent of the output format.
namespace paretopipe::render {

struct TextTable {
  std::vector<std::string> headings;
  std::size_t left_columns = 0;  ///< how many leading columns hold words; the others hold numbers
  std::vector<std::vector<std::string>> rows;
};

/// The median error of every quantity in every cell: "+31.2 us", followed by " !" where it breaks the promise, or "-"
/// where the truth or the measurement is missing.
TextTable error_table(const calibration::DataSheet& sheet);

/// One row per quantity, over all cells.
TextTable summary_table(const calibration::DataSheet& sheet);

/// Sentences that say what ran on which machine and what the numbers mean.
std::vector<std::string> preamble(const calibration::DataSheet& sheet);

/// Sentences on what a reader must know before believing the numbers: failures, or a machine that was not at rest.
/// Often none.
std::vector<std::string> remarks(const calibration::DataSheet& sheet);

}  // namespace paretopipe::render
