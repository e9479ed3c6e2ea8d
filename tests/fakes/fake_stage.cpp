// The stage program without LibTorch: the real session, pipeline and links around the synthetic model, which misbehaves
// as the environment variable FAKE_STAGE_FAULT says (faulty_backend.hpp), or is of an older release where that is
// "older". Starts in milliseconds and runs under sanitizers.
#include <paretopipe/compute/synthetic/synthetic_backend.hpp>
#include <paretopipe/core/control_descriptor.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/launch/guard.hpp>
#include <paretopipe/shaping/interface/lease.hpp>
#include <paretopipe/stage/relays.hpp>
#include <paretopipe/stage/session.hpp>
#include <paretopipe/wire/link.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "faulty_backend.hpp"
#include "star_all_reduce.hpp"

namespace {

/// All that the driver can rely on, whatever else a release's messages were.
void answer_as_an_older_release(paretopipe::wire::Link& control) {
  control.receive_message();
  control.send_message({{"type", "configured"}, {"body", {{"protocol_version", 1}}}});
  control.receive_message();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace paretopipe;
  try {
    if (argc > 1 && argv[1] == std::string_view("guard")) return launch::guard_stage(launch::guarded_program());
    if (argc > 1 && argv[1] == std::string_view("keep-lease")) {
      shaping::keep_lease(FileDescriptor(kControlDescriptor));
      return 0;
    }
    const char* fault = std::getenv("FAKE_STAGE_FAULT");
    wire::Link control(kControlDescriptor);
    if (argc > 1 && argv[1] == std::string_view("relay")) {
      stage::serve_relays(control);
      return 0;
    }
    if (fault != nullptr && fault == std::string_view("older")) {
      answer_as_an_older_release(control);
      return 0;
    }
    const auto backend = fakes::make_faulty_backend(synthetic::make_synthetic_backend(), fault == nullptr ? "" : fault);
    stage::serve(control, *backend, fakes::join_star);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "fake-stage: " << error.what() << '\n';
    return 4;
  }
}
