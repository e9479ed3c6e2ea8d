#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/messages.hpp>
#include <paretopipe/stage/run_outcome.hpp>
#include <paretopipe/stage/source.hpp>

namespace paretopipe::wire {
class Link;
}

namespace paretopipe::stage {

class Progress;

/// The links to a stage's neighbours in the ring. Null where the stage is alone.
struct Neighbours {
  wire::Link* previous = nullptr;
  wire::Link* next = nullptr;
};

/// Runs one trial's part in this stage, from the first batch to the last, and reports its moments. One thread receives
/// into preallocated buffers, the calling thread computes, one thread sends straight from the results' memory; small
/// bounded queues join them, so that transfer and compute overlap.
///
/// `references` makes this the source stage: it issues the batches, and its receive thread takes the results.
/// Whoever asks `progress` meanwhile, if there is one, is told where the threads are.
/// Throws the first error of any of the threads, after shutting both links down: the ring is unusable then.
RunOutcome run_pipeline(const Run& run, Backend& backend, Neighbours neighbours, const ReferenceSet* references,
                        Progress* progress = nullptr);

}  // namespace paretopipe::stage
