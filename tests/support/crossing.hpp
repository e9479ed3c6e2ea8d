#pragma once
#include <paretopipe/stage/backend.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

#include <support/catch.hpp>

// What crosses a cut, as two backends see it.
namespace paretopipe::support {

inline stage::Boundary boundary_of(const stage::Activation& activation) {
  stage::Boundary boundary;
  for (std::size_t i = 0; i < activation.tensors(); ++i) boundary.push_back(activation.tensor(i).spec);
  return boundary;
}

inline std::int64_t bytes_of(const stage::Activation& activation) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < activation.tensors(); ++i) {
    bytes += static_cast<std::int64_t>(activation.tensor(i).bytes.size());
  }
  return bytes;
}

/// What the wire does: the bytes of every tensor arrive in memory that the receiving stage has allocated.
inline stage::Activation send(stage::Backend& to, const stage::Activation& activation) {
  auto received = to.allocate(activation.spec);
  REQUIRE(received.bytes.size() == activation.bytes.size());
  std::memcpy(received.bytes.data(), activation.bytes.data(), activation.bytes.size());
  for (const auto& other : activation.others) received.others.push_back(send(to, other));
  return received;
}

inline std::vector<float> logits_of(const stage::Activation& activation) {
  REQUIRE(activation.spec.dtype == wire::DType::float32);
  std::vector<float> values(activation.bytes.size() / sizeof(float));
  std::memcpy(values.data(), activation.bytes.data(), activation.bytes.size());
  return values;
}

}  // namespace paretopipe::support
