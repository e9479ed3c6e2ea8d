#pragma once
#include <filesystem>
#include <string_view>

namespace paretopipe::render {

/// Throws UsageError if there is no folder to write the file to, or no name: a check to make before minutes of work.
void check_target(const std::filesystem::path& file);

/// Writes a whole file or nothing: to a temporary file beside it, flushed to the disk, then renamed. Replaces an
/// existing file and keeps its permissions. Writes directly to anything but a regular file (a device, a pipe). Throws
/// as check_target() does, and EnvironmentError, leaving nothing behind, if writing fails (disk full, no permission).
void write_file(const std::filesystem::path& file, std::string_view text);

/// Makes a folder and its missing parents. Throws EnvironmentError.
void make_folder(const std::filesystem::path& folder);

/// Writes to standard output and flushes. Throws EnvironmentError on failure: a report cut off by a full disk must not
/// look like a success.
void write_standard_output(std::string_view text);

}  // namespace paretopipe::render
