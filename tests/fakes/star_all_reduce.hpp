#pragma once
#include <paretopipe/stage/replicas.hpp>

#include <memory>

namespace paretopipe::fakes {

/// A stage::JoinReplicas without LibTorch: all replicas send their numbers to the first, which adds them up in order.
std::unique_ptr<stage::AllReduce> join_star(const stage::ReplicaPlace& place,
                                            std::shared_ptr<stage::MeetingStore> store);

}  // namespace paretopipe::fakes
