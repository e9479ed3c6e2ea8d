#pragma once
#include <paretopipe/stage/backend.hpp>

#include <memory>

namespace paretopipe::synthetic {

/// Computes synthetic models. A block waits out its duration (asleep, so that no core is needed, but for the last
/// moments) and fills its output with a function of its input and its index, so that a wrong, lost or damaged
/// activation shows in the logits. Filling the output is part of the duration; if it takes longer than that, the block
/// does.
std::unique_ptr<stage::Backend> make_synthetic_backend();

}  // namespace paretopipe::synthetic
