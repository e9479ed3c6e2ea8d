#pragma once
#include <paretopipe/stage/messages.hpp>

namespace paretopipe::stage {

/// How long this stage computes and encodes each of the requested runs of blocks, of an input that the blocks before
/// have made once. The whole model is loaded, and stays so. Where asked for, each run is prepared as for a trial, and
/// runs are left out that go on beyond one that took long enough. A first round of each is run and dropped, or as many
/// as take a tenth of the least time of all. Throws what the backend throws, and wire::ProtocolError for an invalid
/// request.
RunTimes time_runs(const TimeRuns& request, Backend& backend);

/// What each codec makes of what crosses a cut, which the blocks before have made of one input, and how long encoding
/// and decoding it take, one after the other in this thread. A first round of each is run and dropped. Throws what
/// time_runs() does, and EnvironmentError for an activation that a codec cannot encode.
CodecTimes time_codecs(const TimeCodecs& request, Backend& backend);

}  // namespace paretopipe::stage
