#pragma once
#include <paretopipe/stage/backend.hpp>

#include <memory>

namespace paretopipe::synthetic {

/// Computes synthetic models. A block waits out its duration and fills its output with a function of its input and its
/// index, so a wrong, lost or damaged activation shows in the logits. It waits asleep, which needs no core, except for
/// the last moments. Filling the output is part of the duration; if it takes longer, so does the block.
std::unique_ptr<stage::Backend> make_synthetic_backend();

}  // namespace paretopipe::synthetic
