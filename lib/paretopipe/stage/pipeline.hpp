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

/// The links to a stage's neighbours in the ring. Null if the stage is alone.
struct Neighbours {
  wire::Link* previous = nullptr;
  wire::Link* next = nullptr;
};

/// Runs this stage's part of one trial, from the first batch to the last, and reports its moments. One thread receives
/// into preallocated buffers, the calling thread computes, and one thread sends straight from the results' memory.
/// Small bounded queues join them, so that transfer and compute overlap.
///
/// With `references` this is the source stage: it issues the batches, and its receive thread takes the results.
/// `progress`, if given, shows other threads where this run's threads are. Throws the first error of any thread, after
/// shutting both links down; the ring is then unusable.
RunOutcome run_pipeline(const Run& run, Backend& backend, Neighbours neighbours, const ReferenceSet* references,
                        Progress* progress = nullptr);

}  // namespace paretopipe::stage
