#pragma once
#include <string_view>

namespace paretopipe {

/// The release, e.g. "0.1.0".
std::string_view version();

/// The git commit that was built, with "-dirty" if the working tree differed from it; "unknown" outside a git checkout.
std::string_view git_state();

}  // namespace paretopipe
