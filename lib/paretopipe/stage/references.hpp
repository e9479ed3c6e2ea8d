#pragma once
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/stage/messages.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::wire {
class Link;
}

/// The reference outputs of every trial. One process computes them with the whole model and passes them to the source,
/// which then needs only its own blocks of the model.
namespace paretopipe::stage {

/// The source's inputs, as micro-batches of one batch after the other, and the unsplit model's output for each.
struct ReferenceSet {
  std::vector<Activation> inputs;
  std::vector<Activation> outputs;     ///< same length and order
  std::vector<std::int64_t> labels{};  ///< classes of the first images of the inputs; empty if unknown
};

struct ComputedReferences {
  ReferencesFollow reply;
  std::vector<Activation> outputs;
};

/// Loads the whole model, which stays loaded, and computes the request's micro-batches. First compares an optimized
/// model, on a few images, with the same weights in eager float32. Throws UsageError if an output is not finite,
/// wire::ProtocolError for impossible numbers, and what the backend throws.
ComputedReferences compute_references(const ComputeReferences& request, Backend& backend);

/// Receives the tensors that follow a request on the control link: the outputs after TakeReferences, nothing after any
/// other request or an invalid one, which its handler reports. Throws what wire::Link throws.
std::vector<Activation> receive_tensors_of(const nlohmann::json& request, wire::Link& control);

/// Makes the inputs that belong to these outputs. Throws UsageError for labels that are not classes of the model, and
/// what the backend throws.
ReferenceSet take_references(const TakeReferences& request, std::vector<Activation> outputs, Backend& backend);

}  // namespace paretopipe::stage
