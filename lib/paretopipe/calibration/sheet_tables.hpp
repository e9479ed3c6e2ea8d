#pragma once
#include <paretopipe/calibration/data_sheet.hpp>

#include <string>
#include <vector>

/// A data sheet as cells of text and sentences, whatever shows them.
namespace paretopipe::calibration {

struct TextTable {
  std::vector<std::string> headings;
  std::size_t left_columns = 0;  ///< the first so many are words; the others are numbers
  std::vector<std::vector<std::string>> rows;
};

/// The median error of every quantity in every cell: "+31.2 us", with " !" where it is not kept, "-" where the truth is
/// unknown or there is no measurement.
TextTable error_table(const DataSheet& sheet);

/// Every quantity over all cells.
TextTable summary_table(const DataSheet& sheet);

/// What was run on what, and what the numbers are: sentences.
std::vector<std::string> preamble(const DataSheet& sheet);

/// What a reader must know before believing the numbers: a machine that was not at rest, failures. Sentences, often
/// none.
std::vector<std::string> remarks(const DataSheet& sheet);

}  // namespace paretopipe::calibration
