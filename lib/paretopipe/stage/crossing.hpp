#pragma once
#include <paretopipe/experiment/model_description.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/wire/link.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace paretopipe::stage {

// A batch is cut along its first dimension. In every memory order its rows are consecutive, so a micro-batch is a
// contiguous part of the batch's memory.

/// The spec of a batch made of `micro_batches` such micro-batches. Throws ProtocolError for a scalar, or if the batch
/// would be larger than a tensor can be.
wire::TensorSpec whole_batch(wire::TensorSpec micro_batch, int micro_batches);

/// The `micro_batches` equal parts of a batch, in order, in the batch's own memory. Throws Error(internal) if the first
/// dimension is not divisible.
std::vector<Activation> parts_of(const Activation& batch, int micro_batches);

/// Copies of these parts, which `backend` allocates and aligns like an activation received over a link. A batch of one
/// micro-batch is not copied.
std::vector<Activation> cut(const Activation& batch, int micro_batches, Backend& backend);

// A micro-batch on a link: one frame for each of its tensors, in order. If n tensors cross, the frames of micro-batch
// c have the sequence numbers n c to n c + n - 1.

/// Calls `pass` with the index and the sequence number of each of a micro-batch's `count` frames, of which there is at
/// least one. Returns the times from the first frame's begin to the last one's end.
template <class Pass>
auto for_each_frame(std::size_t micro_batch, std::size_t count, const Pass& pass) {
  auto all = pass(std::size_t{0}, count * micro_batch);
  for (std::size_t i = 1; i < count; ++i) all.end_ns = pass(i, count * micro_batch + i).end_ns;
  return all;
}

/// Allocates memory for an incoming micro-batch, separately for each tensor.
Activation allocate(const Boundary& boundary, Backend& backend);

/// Sends a micro-batch. The times run from before the first byte of the first tensor's header to the last byte of the
/// last tensor. Throws what wire::Link throws.
wire::SendTimes send(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, const Activation& activation);

/// Receives a micro-batch into memory of exactly its size. The times run from the first tensor's header to the last
/// byte of the last tensor.
wire::ReceiveTimes receive(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, const Activation& into);

/// The address ranges of activations, known beyond their lifetime.
class AddressRanges {
 public:
  explicit AddressRanges(const Activation& activation);

  bool overlaps(const Activation& other) const;

 private:
  std::array<std::span<const std::byte>, experiment::kMostCrossing> tensors_;
};

}  // namespace paretopipe::stage
