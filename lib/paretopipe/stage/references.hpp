#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/messages.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::wire {
class Link;
}

/// What every trial's outputs are compared with. One process computes it with the whole model, and the source takes it
/// from there, so that it needs no more of the model than its own blocks.
namespace paretopipe::stage {

/// The source's inputs, micro-batch for micro-batch of one batch after the other, and what the unsplit model makes of
/// each micro-batch.
struct ReferenceSet {
  std::vector<Activation> inputs;
  std::vector<Activation> outputs;     ///< same length and order
  std::vector<std::int64_t> labels{};  ///< classes of the first images of the inputs; none where they are not known
};

struct ComputedReferences {
  ReferencesFollow reply;
  std::vector<Activation> outputs;
};

/// Loads the whole model, which stays loaded, and computes the request's micro-batches. An optimized one is held
/// against the same weights in eager float32 first, of which a few images are enough. Throws UsageError where an output
/// is not finite, wire::ProtocolError for numbers that cannot be, and what the backend throws.
ComputedReferences compute_references(const ComputeReferences& request, Backend& backend);

/// What follows a request on the control link: the outputs behind TakeReferences, and nothing behind any other one, or
/// behind one that cannot be, which is for its handler to say. Throws what wire::Link throws.
std::vector<Activation> receive_tensors_of(const nlohmann::json& request, wire::Link& control);

/// Makes the inputs whose outputs these are. Throws UsageError for labels that are no classes of the model, and what
/// the backend throws.
ReferenceSet take_references(const TakeReferences& request, std::vector<Activation> outputs, Backend& backend);

}  // namespace paretopipe::stage
