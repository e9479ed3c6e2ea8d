#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace paretopipe::compute {

/// The whole numbers from 0 of a text file, line by line: digits with blanks (spaces, tabs) between them. Lines end in
/// LF or CRLF; the last one need not. Throws UsageError, naming the file and the line, for an empty file, a line
/// without a number, anything that is no number or not below 2^63, and a file that cannot be read.
std::vector<std::vector<std::int64_t>> read_number_lines(const std::filesystem::path& file);

/// One number a line: the classes of samples, in their order.
std::vector<std::int64_t> read_labels(const std::filesystem::path& file);

}  // namespace paretopipe::compute
