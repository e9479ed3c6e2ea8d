#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstddef>
#include <vector>

/// A batch is cut along its first dimension. In every memory order its rows are consecutive, so a micro-batch is a
/// contiguous part of the batch's memory.
namespace paretopipe::stage {

/// The spec of a batch made of `micro-batches` such micro-batches. Throws ProtocolError for a scalar, or if the batch
/// would be larger than a tensor can be.
wire::TensorSpec whole_batch(wire::TensorSpec micro_batch, int micro_batches);

/// The `micro-batches` equal parts of a batch, in order, in the batch's own memory. Throws Error(internal) if the first
/// dimension is not divisible.
std::vector<Activation> parts_of(const Activation& batch, int micro_batches);

/// The same parts as copies, which `backend` allocates and aligns like an activation received over a link. A batch of
/// one micro-batch is not copied.
std::vector<Activation> cut(const Activation& batch, int micro_batches, Backend& backend);

}  // namespace paretopipe::stage
