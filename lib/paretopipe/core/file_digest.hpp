#pragma once
#include <filesystem>
#include <string>

namespace paretopipe {

/// SHA-256 (FIPS 180-4) of a file's contents, as 64 lower-case hexadecimal digits. Throws UsageError that names the
/// file and the reason if it cannot be read or is no regular file: it is one that a person named.
std::string sha256_of_file(const std::filesystem::path& file);

}  // namespace paretopipe
