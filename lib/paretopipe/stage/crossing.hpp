#pragma once
#include <paretopipe/config/archive.hpp>
#include <paretopipe/stage/backend.hpp>
#include <paretopipe/wire/link.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// A micro-batch on a link: one frame for each of its tensors, in order. Of micro-batch c, where n tensors cross, the
/// frames have the sequence numbers n c to n c + n - 1.
namespace paretopipe::stage {

/// Memory for a micro-batch that is to come, each tensor in its own.
Activation allocate(const Boundary& boundary, Backend& backend);

/// From before the first byte of the first tensor's header to the last byte of the last tensor. Errors as wire::Link
/// has them.
wire::SendTimes send(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, const Activation& activation);

/// Into memory for exactly what comes. From the first tensor's header on to the last byte of the last tensor.
wire::ReceiveTimes receive(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, const Activation& into);

/// Where the bytes of an activation are, known beyond its life.
class AddressRanges {
 public:
  explicit AddressRanges(const Activation& activation);

  bool overlaps(const Activation& other) const;

 private:
  std::array<std::span<const std::byte>, config::kMostCrossing> tensors_;
};

}  // namespace paretopipe::stage
