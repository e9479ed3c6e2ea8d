#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstddef>
#include <vector>

/// A batch is cut along its first dimension, whose rows lie one after the other in every memory order: a micro-batch is
/// a stretch of the batch's memory.
namespace paretopipe::stage {

/// The spec of a batch that is put together of `micro-batches` such micro-batches. Throws ProtocolError for a scalar,
/// and where the batch would be larger than a tensor can be.
wire::TensorSpec whole_batch(wire::TensorSpec micro_batch, int micro_batches);

/// The `micro-batches` equal parts of a batch, in order, on the batch's own memory. Throws Error(internal) where its
/// first dimension cannot be divided so.
std::vector<Activation> parts_of(const Activation& batch, int micro_batches);

/// The same as copies in memory of their own, which `backend` allocates and aligns as for an activation that came over
/// a link. A batch of one micro-batch is not copied.
std::vector<Activation> cut(const Activation& batch, int micro_batches, Backend& backend);

}  // namespace paretopipe::stage
