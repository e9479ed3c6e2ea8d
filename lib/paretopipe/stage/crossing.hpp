#pragma once
#include <paretopipe/config/archive.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/wire/link.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// A micro-batch on a link: one frame for each of its tensors, in order. If n tensors cross, the frames of micro-batch
/// c have the sequence numbers n c to n c + n - 1.
namespace paretopipe::stage {

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
  std::array<std::span<const std::byte>, config::kMostCrossing> tensors_;
};

}  // namespace paretopipe::stage
