#pragma once
#include <paretopipe/report/export_layout.hpp>

#include <vector>

namespace paretopipe::testing {

inline report::Export export_as(const char* layout, const std::vector<record::TrialRecord>& records) {
  return report::find_export_layout(layout).make(records);
}

}  // namespace paretopipe::testing
