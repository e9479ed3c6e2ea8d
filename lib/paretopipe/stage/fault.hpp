#pragma once
#include <exception>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace paretopipe::stage {

/// The request failed; the stage goes on listening. After a failed `Run` its links are gone.
struct Fault {
  static constexpr std::string_view kType = "fault";
  std::string reason;      ///< a sentence
  int exit_code = 0;       ///< who is at fault, as paretopipe::ExitCode: the request, the machine or us
  bool peer_lost = false;  ///< a neighbour ended the link: an effect; the neighbour is or knows the cause
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fault, reason, exit_code, peer_lost)

/// What to answer where a request has ended with this exception.
Fault fault_of(const std::exception& exception);

}  // namespace paretopipe::stage
