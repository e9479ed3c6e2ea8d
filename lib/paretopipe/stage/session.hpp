#pragma once
#include <paretopipe/stage/backend.hpp>

namespace paretopipe::wire {
class Link;
}

namespace paretopipe::stage {

/// A stage's life: answers the driver's requests (messages.hpp) one after the other until the control link ends, then
/// returns. Answers a failed request with `Fault`. Throws only wire::ProtocolError, if the control link speaks another
/// protocol. Computes on the calling thread; another thread answers "where are you" (front_desk.hpp).
void serve(wire::Link& control, Backend& backend);

}  // namespace paretopipe::stage
