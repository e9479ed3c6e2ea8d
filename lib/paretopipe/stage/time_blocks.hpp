#pragma once
#include <paretopipe/stage/messages.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::stage {

/// How long each block of the model computes on this stage, one after another as in a trial, in nanoseconds: the median
/// over the rounds. A first round is run and dropped. Leaves the whole model loaded. Throws what the backend throws,
/// and wire::ProtocolError for an invalid request.
std::vector<std::int64_t> time_blocks(const TimeBlocks& request, Backend& backend);

}  // namespace paretopipe::stage
