#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/crossing.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::stage {

wire::TensorSpec whole_batch(wire::TensorSpec micro_batch, int micro_batches) {
  if (micro_batch.shape.empty()) throw wire::ProtocolError("a scalar is not a micro-batch of a batch");
  static_cast<void>(wire::byte_size(micro_batch));  // refuses an invalid spec before a larger one is made
  micro_batch.shape.front() *= micro_batches;
  static_cast<void>(wire::byte_size(micro_batch));
  return micro_batch;
}

std::vector<Activation> parts_of(const Activation& batch, int micro_batches) {
  const auto& shape = batch.spec.shape;
  if (shape.empty() || shape.front() % micro_batches != 0) {
    throw Error(ExitCode::internal,
                fmt::format("{} cannot be cut into {} micro-batches", wire::to_string(batch.spec), micro_batches));
  }
  auto spec = batch.spec;
  spec.shape.front() /= micro_batches;
  const auto bytes = batch.bytes.size() / static_cast<std::size_t>(micro_batches);
  std::vector<Activation> parts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(micro_batches); ++i) {
    parts.push_back({spec, batch.bytes.subspan(i * bytes, bytes), batch.owner});
  }
  return parts;
}

std::vector<Activation> cut(const Activation& batch, int micro_batches, Backend& backend) {
  if (micro_batches == 1) return {batch};
  auto parts = parts_of(batch, micro_batches);
  for (auto& part : parts) {
    auto copy = backend.allocate(part.spec);
    std::ranges::copy(part.bytes, copy.bytes.begin());
    part = std::move(copy);
  }
  return parts;
}

namespace {

bool overlap(std::span<const std::byte> left, std::span<const std::byte> right) {
  return left.data() < right.data() + right.size() && right.data() < left.data() + left.size();
}

}  // namespace

Activation allocate(const Boundary& boundary, Backend& backend) {
  auto activation = backend.allocate(boundary.at(0));
  for (std::size_t i = 1; i < boundary.size(); ++i) activation.others.push_back(backend.allocate(boundary[i]));
  return activation;
}

wire::SendTimes send(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, const Activation& activation) {
  return for_each_frame(micro_batch, activation.tensors(), [&](std::size_t i, std::uint64_t sequence) {
    const auto& tensor = activation.tensor(i);
    return link.send_tensor(tag, sequence, tensor.spec, tensor.bytes);
  });
}

wire::ReceiveTimes receive(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, const Activation& into) {
  return for_each_frame(micro_batch, into.tensors(), [&](std::size_t i, std::uint64_t sequence) {
    const auto& tensor = into.tensor(i);
    return link.receive_tensor(tag, sequence, tensor.spec, tensor.bytes);
  });
}

AddressRanges::AddressRanges(const Activation& activation) {
  for (std::size_t i = 0; i < activation.tensors(); ++i) tensors_.at(i) = activation.tensor(i).bytes;
}

bool AddressRanges::overlaps(const Activation& other) const {
  return std::any_of(tensors_.begin(), tensors_.end(), [&](auto own) {
    for (std::size_t i = 0; i < other.tensors(); ++i) {
      if (overlap(own, other.tensor(i).bytes)) return true;
    }
    return false;
  });
}

}  // namespace paretopipe::stage
