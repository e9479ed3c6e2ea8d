#pragma once
#include <filesystem>
#include <string_view>

namespace paretopipe::report {

/// Throws UsageError where there is no folder to write the file to, or no name: worth a look before minutes of work.
void check_target(const std::filesystem::path& file);

/// Writes a whole file or none: to a temporary file beside it, flushed to the disk, then renamed. A file of that name
/// is replaced, with its permissions kept; what is not a regular file (a device, a pipe) is written to directly. Throws
/// as check_target() does, and EnvironmentError, leaving nothing behind, when writing fails (disk full, no permission).
void write_file(const std::filesystem::path& file, std::string_view text);

/// Makes a folder and those above it, where they are missing. Throws EnvironmentError.
void make_folder(const std::filesystem::path& folder);

/// Writes to standard output and flushes. Throws EnvironmentError when that fails: a report that was cut off by a full
/// disk must not look like a success.
void write_standard_output(std::string_view text);

}  // namespace paretopipe::report
