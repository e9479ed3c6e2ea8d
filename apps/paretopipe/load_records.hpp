#pragma once
#include <paretopipe/record/store.hpp>

#include <filesystem>
#include <span>
#include <string>

namespace paretopipe::cli {

/// Prints warnings to standard error, one per line.
void print_warnings(std::span<const std::string> warnings);

/// Reads records whose numbers will be used: checks that each follows from its samples (stats::check_summary). Prints
/// the warnings. Throws UsageError.
record::RecordSet load_records(const std::filesystem::path& path);

/// Throws UsageError if writing to `out` (empty: no file) would replace `source` or the records in it.
void check_not_replaced(const std::filesystem::path& source, const std::filesystem::path& out);

}  // namespace paretopipe::cli
