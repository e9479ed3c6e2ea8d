#include <paretopipe/calibration/applicability.hpp>
#include <paretopipe/calibration/render.hpp>
#include <paretopipe/calibration/sheet_tables.hpp>

#include "page_parts.hpp"

namespace paretopipe::page {
namespace {

Json table_data(const calibration::TextTable& table) {
  return {{"headings", table.headings}, {"left_columns", table.left_columns}, {"rows", table.rows}};
}

}  // namespace

Json calibration_data(const calibration::DataSheet& sheet, Records records) {
  return {{"kept", sheet.kept()},
          {"verdict", calibration::verdict(sheet)},
          {"doubts", calibration::doubts(sheet, records)},
          {"preamble", calibration::preamble(sheet)},
          {"remarks", calibration::remarks(sheet)},
          {"summary", table_data(calibration::summary_table(sheet))},
          {"cells", table_data(calibration::error_table(sheet))}};
}

}  // namespace paretopipe::page
