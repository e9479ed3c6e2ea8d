#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace paretopipe::wire {

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

}  // namespace paretopipe::wire
