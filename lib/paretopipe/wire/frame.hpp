#pragma once
#include <paretopipe/wire/tensor_spec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

// The 64 bytes before every frame. Pure: no input or output, no state; safe from any thread. README.md gives the layout
// byte by byte. A field that follows from others (a tensor's body length) is not stored, so no contradictory header can
// be made; one from a peer is refused.
namespace paretopipe::wire {

inline constexpr std::uint16_t kProtocolVersion = 1;
inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::uint64_t kMaxControlBytes = std::uint64_t{64} << 20;

/// A body of `body_bytes` (1 … kMaxControlBytes) bytes of JSON.
struct ControlFrame {
  std::uint64_t body_bytes = 0;
  bool operator==(const ControlFrame&) const = default;
};

/// A body of exactly byte_size(spec) bytes.
struct TensorFrame {
  std::uint32_t tag = 0;       ///< the plan or trial it belongs to, so that a stale frame is recognised
  std::uint64_t sequence = 0;  ///< the number of the tensor in it, in the order in which they cross the link
  TensorSpec spec;
  bool operator==(const TensorFrame&) const = default;
};

/// The first frame of a connection made by connect_peer; no body.
struct Greeting {
  std::uint64_t token = 0;  ///< known to both sides; a peer without it is a stranger
  bool operator==(const Greeting&) const = default;
};

using FrameHeader = std::variant<ControlFrame, TensorFrame, Greeting>;
using HeaderBytes = std::array<std::byte, kHeaderBytes>;

/// Throws ProtocolError for a header that `decode` would refuse.
HeaderBytes encode(const FrameHeader& header);

/// Throws ProtocolError, which says what was expected and what came, for everything that `encode` cannot produce:
/// encode(decode(bytes)) == bytes for all accepted bytes. Allocates only the shape.
FrameHeader decode(std::span<const std::byte, kHeaderBytes> bytes);

/// "tensor float32[1x10] (tag 3, sequence 7)", "control message of 120 bytes", "greeting". For error messages. Leaves
/// out a greeting's token, because it keeps strangers away.
std::string to_string(const FrameHeader& header);

}  // namespace paretopipe::wire
