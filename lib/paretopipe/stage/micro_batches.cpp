#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/micro_batches.hpp>
#include <paretopipe/wire/errors.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::stage {

wire::TensorSpec whole_batch(wire::TensorSpec micro_batch, int micro_batches) {
  if (micro_batch.shape.empty()) throw wire::ProtocolError("a scalar is no micro-batch of a batch");
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

}  // namespace paretopipe::stage
