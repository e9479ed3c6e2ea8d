#include <paretopipe/core/version.hpp>

#include "git_state.hpp"

namespace paretopipe {

std::string_view version() {
  return PARETOPIPE_VERSION;
}

std::string_view git_state() {
  return PARETOPIPE_GIT_STATE;
}

}  // namespace paretopipe
