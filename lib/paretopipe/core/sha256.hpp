#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace paretopipe {

/// The SHA-256 (FIPS 180-4) of a file's contents, as 64 lower-case hexadecimal digits. Reads the whole file, a piece at
/// a time. Throws UsageError for one that cannot be read or is no regular file: which one is a person's choice.
std::string sha256_of_file(const std::filesystem::path& file);

/// The same of a text.
std::string sha256_of_text(std::string_view text);

}  // namespace paretopipe
