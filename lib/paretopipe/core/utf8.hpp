#pragma once
#include <string>

namespace paretopipe {

/// True if the text is valid UTF-8 (RFC 3629), so that JSON can hold it. Paths on Linux need not be.
bool is_utf8(const std::string& text);

}  // namespace paretopipe
