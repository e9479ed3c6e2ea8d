#pragma once
#include <paretopipe/stage/backend.hpp>

namespace paretopipe::wire {
class Link;
}

namespace paretopipe::stage {

/// A stage's life: answers the driver's requests (messages.hpp) one after the other until the control link ends, then
/// returns. A request that fails is answered by `Fault`; only a control link that speaks another protocol throws
/// (wire::ProtocolError). Computes on the calling thread; another one answers where that is (front_desk.hpp).
void serve(wire::Link& control, Backend& backend);

}  // namespace paretopipe::stage
