#pragma once
#include <filesystem>
#include <string_view>

namespace paretopipe::report {

/// Writes a whole file or none: to a temporary file beside it, flushed to the disk, then renamed. A file of that name
/// is replaced, with its permissions kept; what is not a regular file (a device, a pipe) is written to directly. Throws
/// EnvironmentError, and leaves nothing behind, when that fails (disk full, no permission, no such folder).
void write_file(const std::filesystem::path& file, std::string_view text);

/// Makes a folder and those above it, where they are missing. Throws EnvironmentError.
void make_folder(const std::filesystem::path& folder);

/// Writes to standard output and flushes. Throws EnvironmentError when that fails: a report that was cut off by a full
/// disk must not look like a success.
void write_standard_output(std::string_view text);

}  // namespace paretopipe::report
