#pragma once
#include <paretopipe/calibration/data_sheet.hpp>

#include <span>
#include <string>
#include <vector>

namespace paretopipe::calibration {

/// Returns sentences that say why the sheet may not apply to the instrument that made the records: they come from
/// another machine (record::machine_of()), from the same machine after a change (kernel, governor, …), or from another
/// version of paretopipe. Returns none if nothing speaks against the sheet, or if no record names its machine and its
/// version.
std::vector<std::string> doubts(const DataSheet& sheet, std::span<const record::TrialRecord> records);

}  // namespace paretopipe::calibration
