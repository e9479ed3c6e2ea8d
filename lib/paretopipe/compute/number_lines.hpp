#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace paretopipe::compute {

/// Reads the non-negative whole numbers of a text file, line by line: digits, separated by blanks (spaces, tabs). Lines
/// end in LF or CRLF; the last line may lack its end. Throws UsageError, naming the file and the line, for an empty
/// file, a line without a number, anything that is no number or not below 2^63, and a file that cannot be read.
std::vector<std::vector<std::int64_t>> read_number_lines(const std::filesystem::path& file);

/// Reads one number per line: the classes of samples, in their order.
std::vector<std::int64_t> read_labels(const std::filesystem::path& file);

}  // namespace paretopipe::compute
