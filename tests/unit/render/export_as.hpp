#pragma once
#include <paretopipe/render/exports.hpp>

#include <vector>

namespace paretopipe::testing {

inline render::Export export_as(const char* layout, const std::vector<record::TrialRecord>& records) {
  return render::find_export_layout(layout).make(records);
}

}  // namespace paretopipe::testing
