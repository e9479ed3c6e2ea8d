#pragma once
#include <paretopipe/stage/stage_loops.hpp>

#include <vector>

namespace paretopipe::stage {

/// The source's part in a run of several devices. Deals whole batches out in turn (core/timeline.hpp), with at most
/// `depth` in flight in total, and computes its own share on the calling thread. `neighbours` has the link from and the
/// link to every other device, in ascending order. Each device sees a pipeline of two stages, the first of which
/// computes nothing.
///
/// In the report's timelines, the source's own batches have the moments of a stage that sends nothing. For a batch of
/// another device, compute_begin, compute_end and encoded are all the moment of the hand-over: an input is only sent.
/// Throws as run_pipeline() does; all links are then unusable.
RunOutcome run_dealer(const Run& run, Backend& backend, const std::vector<Neighbours>& neighbours,
                      const ReferenceSet& references, Progress* progress = nullptr);

}  // namespace paretopipe::stage
