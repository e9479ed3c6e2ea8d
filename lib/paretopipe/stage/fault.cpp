#include <paretopipe/stage/fault.hpp>
#include <paretopipe/wire/frame.hpp>

namespace paretopipe::stage {

namespace {

template <class... Types>
bool is_one_of(const std::exception& exception) {
  return ((dynamic_cast<const Types*>(&exception) != nullptr) || ...);
}

}  // namespace

Fault fault_of(const std::exception& exception) {
  const auto* error = dynamic_cast<const Error*>(&exception);
  const auto kind = is_one_of<wire::Closed, wire::ConnectionLost>(exception) ? FaultKind::peer_lost
                    : is_one_of<ProcessLost>(exception)                      ? FaultKind::process_lost
                                                                             : FaultKind::refused;
  return {exception.what(), static_cast<int>(error != nullptr ? error->code() : ExitCode::internal), kind};
}

}  // namespace paretopipe::stage
