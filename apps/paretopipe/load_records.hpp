#pragma once
#include <paretopipe/record/store.hpp>

#include <filesystem>
#include <span>
#include <string>

namespace paretopipe::cli {

/// Warnings for standard error, a line each.
void print_warnings(std::span<const std::string> warnings);

/// Reads records whose numbers are to be used: each must follow from its samples (stats::check_summary). Prints the
/// warnings. Throws UsageError.
record::RecordSet load_records(const std::filesystem::path& path);

/// Throws UsageError where writing to `out` (empty: to nowhere) would replace `source`, or the records in it.
void check_not_replaced(const std::filesystem::path& source, const std::filesystem::path& out);

}  // namespace paretopipe::cli
