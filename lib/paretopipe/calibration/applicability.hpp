#pragma once
#include <paretopipe/calibration/data_sheet.hpp>

#include <span>
#include <string>
#include <vector>

namespace paretopipe::calibration {

/// Why the sheet may say little of the instrument that made the records: another machine than theirs, the same one
/// after a change (kernel, governor, …), another version of paretopipe. Sentences; none where nothing speaks against
/// it, or where no record says what it ran on or was made by. What a machine is: record::machine_of().
std::vector<std::string> doubts(const DataSheet& sheet, std::span<const record::TrialRecord> records);

}  // namespace paretopipe::calibration
