#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/fault.hpp>
#include <paretopipe/wire/frame.hpp>

namespace paretopipe::stage {

Fault fault_of(const std::exception& exception) {
  const auto* error = dynamic_cast<const Error*>(&exception);
  const bool peer_lost = dynamic_cast<const wire::Closed*>(&exception) != nullptr ||
                         dynamic_cast<const wire::ConnectionLost*>(&exception) != nullptr;
  return {exception.what(), static_cast<int>(error != nullptr ? error->code() : ExitCode::internal), peer_lost};
}

}  // namespace paretopipe::stage
