#pragma once
#include <string>

namespace paretopipe {

/// Whether JSON can hold the text as it is (RFC 3629). A path on Linux need not be.
bool is_utf8(const std::string& text);

}  // namespace paretopipe
