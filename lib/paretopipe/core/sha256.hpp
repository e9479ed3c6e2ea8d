#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace paretopipe {

/// The SHA-256 (FIPS 180-4) of a file's contents, as 64 lower-case hexadecimal digits. Reads the file piece by piece.
/// Throws UsageError if the file cannot be read or is no regular file, because the user chooses the file.
std::string sha256_of_file(const std::filesystem::path& file);

/// The same for a text.
std::string sha256_of_text(std::string_view text);

}  // namespace paretopipe
