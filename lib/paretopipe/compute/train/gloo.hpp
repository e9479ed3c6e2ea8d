#pragma once
#include <paretopipe/stage/replicas.hpp>

#include <memory>

namespace paretopipe::train {

/// Connects with the other replicas by Gloo, LibTorch's library for all-reduce on CPUs. It listens at the place's
/// address only. Its connections are neither encrypted nor authenticated. Throws EnvironmentError if this program was
/// built without Gloo.
std::unique_ptr<stage::AllReduce> join_by_gloo(const stage::ReplicaPlace& place,
                                               std::shared_ptr<stage::MeetingStore> store);

}  // namespace paretopipe::train
