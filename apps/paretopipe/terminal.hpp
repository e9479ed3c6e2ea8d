#pragma once
#include <paretopipe/report/text_style.hpp>

#include <string>
#include <string_view>

namespace paretopipe::cli {

/// The style for the reader of `out`: a file or, if the name is empty, whatever standard output is.
report::TextStyle text_style(const std::string& out);

/// Writes to the file `out`, whole or not at all; or, if the name is empty, to standard output. Throws
/// EnvironmentError.
void deliver(std::string_view text, const std::string& out);

}  // namespace paretopipe::cli
