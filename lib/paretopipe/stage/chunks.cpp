#include <paretopipe/core/error.hpp>
#include <paretopipe/stage/chunks.hpp>
#include <paretopipe/wire/errors.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace paretopipe::stage {

wire::TensorSpec whole_batch(wire::TensorSpec chunk, int chunks) {
  if (chunk.shape.empty()) throw wire::ProtocolError("a scalar is no chunk of a batch");
  static_cast<void>(wire::byte_size(chunk));  // refuses what is no tensor, before there is a larger one
  chunk.shape.front() *= chunks;
  static_cast<void>(wire::byte_size(chunk));
  return chunk;
}

std::vector<Activation> parts_of(const Activation& batch, int chunks) {
  const auto& shape = batch.spec.shape;
  if (shape.empty() || shape.front() % chunks != 0) {
    throw Error(ExitCode::internal,
                fmt::format("{} cannot be cut into {} chunks", wire::to_string(batch.spec), chunks));
  }
  auto spec = batch.spec;
  spec.shape.front() /= chunks;
  const auto bytes = batch.bytes.size() / static_cast<std::size_t>(chunks);
  std::vector<Activation> parts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(chunks); ++i) {
    parts.push_back({spec, batch.bytes.subspan(i * bytes, bytes), batch.owner});
  }
  return parts;
}

std::vector<Activation> cut(const Activation& batch, int chunks, Backend& backend) {
  if (chunks == 1) return {batch};
  auto parts = parts_of(batch, chunks);
  for (auto& part : parts) {
    auto copy = backend.allocate(part.spec);
    std::ranges::copy(part.bytes, copy.bytes.begin());
    part = std::move(copy);
  }
  return parts;
}

}  // namespace paretopipe::stage
