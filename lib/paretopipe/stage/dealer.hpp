#pragma once
#include <paretopipe/stage/pipeline.hpp>

#include <vector>

namespace paretopipe::stage {

/// The source's part in a run of several devices: deals whole batches out in turn (core/deal.hpp), with at most `depth`
/// in flight in all, and computes its own share on the calling thread. `neighbours`: for every other device, ascending,
/// the link from it and the link to it; what it sees is a pipeline of two stages, the first of which computes nothing.
///
/// In the report's timelines the source's own batches have the moments of a stage that sends nothing. Of a batch for
/// another device compute_begin, compute_end and encoded are the moment at which it was handed over, since nothing is
/// done to an input but to send it. Throws as run_pipeline() does: all links are unusable then.
RunOutcome run_dealer(const Run& run, Backend& backend, const std::vector<Neighbours>& neighbours,
                      const ReferenceSet& references, Progress* progress = nullptr);

}  // namespace paretopipe::stage
