#pragma once
#include <paretopipe/core/error.hpp>
#include <paretopipe/core/json_fields.hpp>

#include <exception>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace paretopipe::stage {

/// What the failure of one request means for later ones.
enum class FaultKind {
  refused,       ///< the same request would fail again
  peer_lost,     ///< a neighbour ended the link: an effect; the neighbour is or knows the cause
  process_lost,  ///< a process that the stage had started has ended: a new stage may do better
};
NLOHMANN_JSON_SERIALIZE_ENUM(FaultKind, {{FaultKind::refused, "refused"},
                                         {FaultKind::peer_lost, "peer_lost"},
                                         {FaultKind::process_lost, "process_lost"}})

/// A process that the stage had started has ended.
class ProcessLost : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// The request failed; the stage goes on listening. After a failed `Run` its links are gone.
struct Fault {
  static constexpr std::string_view kType = "fault";
  std::string reason;  ///< a sentence
  int exit_code = 0;   ///< who is at fault, as paretopipe::ExitCode: the request, the machine or us
  FaultKind kind = FaultKind::refused;
};
PARETOPIPE_JSON(Fault, reason, exit_code, kind)

/// The answer to a request that ended with this exception.
Fault fault_of(const std::exception& exception);

}  // namespace paretopipe::stage
