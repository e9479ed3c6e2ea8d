#pragma once
#include <string>

namespace paretopipe::testing {

/// The text of tests/golden/report/NAME, which is what the output must be, byte for byte. After a change that is meant,
/// run the test once with PARETOPIPE_UPDATE_GOLDEN=1: `actual` is then written to the file first. Read the diff.
std::string golden(const std::string& name, const std::string& actual);

}  // namespace paretopipe::testing
