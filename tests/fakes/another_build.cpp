// The release of this build at another commit.
#include <paretopipe/core/version.hpp>

namespace paretopipe {

std::string_view version() {
  return PARETOPIPE_VERSION;
}

std::string_view git_state() {
  return "abc123-dirty";
}

}  // namespace paretopipe
