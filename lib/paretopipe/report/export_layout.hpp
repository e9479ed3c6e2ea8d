#pragma once
#include <paretopipe/record/record.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::report {

struct ExportFile {
  std::filesystem::path path;  ///< relative to the chosen folder
  std::string content;
};

struct Export {
  std::vector<ExportFile> files;
  std::vector<std::string> left_out;  ///< sentences: what the layout has no place for
};

/// A layout in which other programs read records.
struct ExportLayout {
  std::string_view name;     ///< "python", "trials"
  std::string_view meaning;  ///< one line for help texts
  Export (*make)(std::span<const record::TrialRecord>);
};

std::span<const ExportLayout> export_layouts();

/// Throws UsageError listing the known names.
const ExportLayout& find_export_layout(std::string_view name);

}  // namespace paretopipe::report
