#pragma once
#include <paretopipe/report/text_style.hpp>

#include <string>
#include <string_view>

namespace paretopipe::cli {

/// What the reader of `out` can show: a file, or, where its name is empty, whatever standard output is.
report::TextStyle text_style(const std::string& out);

/// Writes to the file `out`, whole or not at all, or, where its name is empty, to standard output. Throws
/// EnvironmentError.
void deliver(std::string_view text, const std::string& out);

}  // namespace paretopipe::cli
