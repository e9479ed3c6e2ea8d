// The stage program without LibTorch: the real session, pipeline and links around the synthetic model, which misbehaves
// as the environment variable FAKE_STAGE_FAULT says (faulty_backend.hpp). Starts in milliseconds and runs under
// sanitizers.
#include <paretopipe/core/control_descriptor.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/session.hpp>
#include <paretopipe/synthetic/synthetic_backend.hpp>
#include <paretopipe/wire/link.hpp>

#include <cstdlib>
#include <iostream>

#include "faulty_backend.hpp"

int main() {
  using namespace paretopipe;
  try {
    const char* fault = std::getenv("FAKE_STAGE_FAULT");
    const auto backend = fakes::make_faulty_backend(synthetic::make_synthetic_backend(), fault == nullptr ? "" : fault);
    wire::Link control(kControlDescriptor);
    stage::serve(control, *backend);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "fake-stage: " << error.what() << '\n';
    return 4;
  }
}
