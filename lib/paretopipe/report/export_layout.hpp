#pragma once
#include <paretopipe/record/record.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paretopipe::report {

struct ExportFile {
  std::filesystem::path path;  ///< relative to the folder that the person chose
  std::string content;
};

struct Export {
  std::vector<ExportFile> files;
  std::vector<std::string> left_out;  ///< sentences: what the layout has no place for
};

/// A way in which other programs want to read records.
struct ExportLayout {
  std::string_view name;     ///< "python", "trials"
  std::string_view meaning;  ///< one line for help texts
  Export (*make)(std::span<const record::TrialRecord>);
};

std::span<const ExportLayout> export_layouts();

/// Throws UsageError listing the known names.
const ExportLayout& find_export_layout(std::string_view name);

}  // namespace paretopipe::report
