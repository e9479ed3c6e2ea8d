#pragma once
#include <paretopipe/core/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace paretopipe::wire {

/// Something else came over a link than was agreed. The text says what was expected and what came. Except for `Closed`,
/// the stream may have stopped in the middle of a frame: the link is useless and should be destroyed.
class ProtocolError : public Error {
 public:
  explicit ProtocolError(const std::string& message) : Error(ExitCode::environment, message) {}
};

/// The stream ended at a valid point: the peer closed it between two frames, or this side called Link::shutdown.
class Closed : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// The peer vanished without closing properly: a truncated frame, a reset, a write to a closed connection.
class ConnectionLost : public ProtocolError {
 public:
  using ProtocolError::ProtocolError;
};

/// Element type of a tensor on the wire. The numbers are part of the protocol.
enum class DType : std::uint8_t { float32 = 1, bfloat16 = 2, int64 = 3 };

/// Order of the elements in memory. The numbers are part of the protocol.
enum class MemoryFormat : std::uint8_t { contiguous = 1, channels_last = 2 };

/// Everything that decides how many bytes a tensor has on the wire and what they mean. Elements are dense in the order
/// of `memory_format`, in the byte order of the hosts, which must be little-endian.
struct TensorSpec {
  DType dtype = DType::float32;
  MemoryFormat memory_format = MemoryFormat::contiguous;  ///< channels_last (NHWC) only with four dimensions
  std::vector<std::int64_t> shape;  ///< at most kMaxRank dimensions, each 1 … 2^32 - 1; none at all is a scalar

  bool operator==(const TensorSpec&) const = default;
};

inline constexpr int kMaxRank = 8;

/// Bytes of one element. Throws ProtocolError for a value that is no DType.
std::int64_t element_size(DType dtype);

/// Bytes of the whole tensor. Throws ProtocolError if the spec breaks a rule above or the size does not fit 63 bits.
/// Ask for the size to check a spec from a peer.
std::int64_t byte_size(const TensorSpec& spec);

/// "float32[8x3x224x224]", with " channels_last" if it applies. For error messages: takes any spec, however wrong.
std::string to_string(const TensorSpec& spec);

// The 64 bytes before every frame. Pure: no input or output, no state; safe from any thread. README.md gives the layout
// byte by byte. A field that follows from others (a tensor's body length) is not stored, so no contradictory header can
// be made; one from a peer is refused.

inline constexpr std::uint16_t kProtocolVersion = 3;
inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::uint64_t kMaxControlBytes = std::uint64_t{64} << 20;

/// A body of `body_bytes` (1 … kMaxControlBytes) bytes of JSON.
struct ControlFrame {
  std::uint64_t body_bytes = 0;
  bool operator==(const ControlFrame&) const = default;
};

/// What crosses in place of a tensor's elements: what a codec made of them.
struct Encoding {
  std::uint8_t codec = 1;        ///< 1 … 255: a number of codec/codec.hpp, which this layer only passes on
  std::uint64_t body_bytes = 1;  ///< 1 … 2^63 - 1
  bool operator==(const Encoding&) const = default;
};

/// A tensor. The body has exactly byte_size(spec) bytes, or those that a codec made of them.
struct TensorFrame {
  std::uint32_t tag = 0;       ///< the plan or trial it belongs to, so that a stale frame is recognised
  std::uint64_t sequence = 0;  ///< the number of the tensor in it, in the order in which they cross the link
  TensorSpec spec;             ///< of the tensor itself
  std::optional<Encoding> encoding{};
  bool operator==(const TensorFrame&) const = default;
};

using Bytes32 = std::array<std::byte, 32>;

/// Asks the other side of a new connection to prove that it has the key (handshake.hpp); no body.
struct Challenge {
  Bytes32 nonce{};  ///< random, and used once
  bool operator==(const Challenge&) const = default;
};

/// Answers a challenge; no body.
struct Proof {
  Bytes32 mac{};
  bool operator==(const Proof&) const = default;
};

using FrameHeader = std::variant<ControlFrame, TensorFrame, Challenge, Proof>;
using HeaderBytes = std::array<std::byte, kHeaderBytes>;

/// Throws ProtocolError for a header that `decode` would refuse.
HeaderBytes encode(const FrameHeader& header);

/// Throws ProtocolError, which says what was expected and what came, for everything that `encode` cannot produce:
/// encode(decode(bytes)) == bytes for all accepted bytes. Allocates only the shape.
FrameHeader decode(std::span<const std::byte, kHeaderBytes> bytes);

/// "tensor float32[1x10] (tag 3, sequence 7)", with ", 12 bytes of codec 4" if it is encoded, "control message of 120
/// bytes", "challenge", "proof". For error messages.
std::string to_string(const FrameHeader& header);

}  // namespace paretopipe::wire
