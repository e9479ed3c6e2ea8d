#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/replicas.hpp>

namespace paretopipe::wire {
class Link;
}

namespace paretopipe::stage {

/// A stage's life: answers the driver's requests (messages.hpp) one after the other until the control link ends, then
/// returns. Answers a failed request with `Fault`. Throws only wire::ProtocolError, if the control link speaks another
/// protocol. Computes on the calling thread; another thread answers "where are you" (front_desk.hpp). Without `join`
/// there can be no replicas.
void serve(wire::Link& control, Backend& backend, JoinReplicas join = {});

}  // namespace paretopipe::stage
