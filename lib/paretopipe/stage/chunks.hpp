#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstddef>
#include <vector>

/// A batch is cut along its first dimension, whose rows lie one after the other in every memory order: a chunk is a
/// stretch of the batch's memory.
namespace paretopipe::stage {

/// The spec of a batch that is put together of `chunks` such chunks. Throws ProtocolError for a scalar, and where the
/// batch would be larger than a tensor can be.
wire::TensorSpec whole_batch(wire::TensorSpec chunk, int chunks);

/// The `chunks` equal parts of a batch, in order, on the batch's own memory. Throws Error(internal) where its first
/// dimension cannot be divided so.
std::vector<Activation> parts_of(const Activation& batch, int chunks);

/// The same as copies in memory of their own, which `backend` allocates and aligns as for an activation that came over
/// a link. A batch of one chunk is not copied.
std::vector<Activation> cut(const Activation& batch, int chunks, Backend& backend);

}  // namespace paretopipe::stage
