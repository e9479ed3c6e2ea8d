#include <paretopipe/stage/crossing.hpp>

#include <algorithm>

namespace paretopipe::stage {
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
  const auto count = activation.tensors();
  wire::SendTimes all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& tensor = activation.tensor(i);
    const auto times = link.send_tensor(tag, count * micro_batch + i, tensor.spec, tensor.bytes);
    if (i == 0) all.begin_ns = times.begin_ns;
    all.end_ns = times.end_ns;
  }
  return all;
}

wire::ReceiveTimes receive(wire::Link& link, std::uint32_t tag, std::size_t micro_batch, const Activation& into) {
  const auto count = into.tensors();
  wire::ReceiveTimes all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& tensor = into.tensor(i);
    const auto times = link.receive_tensor(tag, count * micro_batch + i, tensor.spec, tensor.bytes);
    if (i == 0) all.begin_ns = times.begin_ns;
    all.end_ns = times.end_ns;
  }
  return all;
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
