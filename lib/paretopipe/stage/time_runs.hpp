#pragma once
#include <paretopipe/stage/messages.hpp>

namespace paretopipe::stage {

/// Measures how long this stage computes and encodes each of the requested runs of blocks. The blocks before them make
/// the input once. The whole model is loaded, and stays so. On request each run is prepared as for a trial, and the
/// runs after one that took long enough are left out. The first rounds of each run are dropped: one, or as many as take
/// a tenth of the least time of all rounds. Throws what the backend throws, and wire::ProtocolError for an invalid
/// request.
RunTimes time_runs(const TimeRuns& request, Backend& backend);

/// Measures how long each codec takes to encode and to decode the tensors of one input that cross a cut, one after the
/// other in this thread, and how many bytes they become. A first round of each is dropped. Throws what time_runs()
/// does, and EnvironmentError for an activation that a codec cannot encode.
CodecTimes time_codecs(const TimeCodecs& request, Backend& backend);

}  // namespace paretopipe::stage
