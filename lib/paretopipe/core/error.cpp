#include <paretopipe/core/error.hpp>

#include <system_error>

namespace paretopipe {

EnvironmentError system_error(const std::string& attempt, int error_number) {
  return EnvironmentError(fmt::format("{}: {}", attempt, std::generic_category().message(error_number)));
}

}  // namespace paretopipe
