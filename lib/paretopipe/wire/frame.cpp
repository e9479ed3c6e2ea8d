#include <paretopipe/core/text.hpp>
#include <paretopipe/wire/frame.hpp>

#include <algorithm>
#include <concepts>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paretopipe::wire {

namespace {

constexpr std::size_t kChannelsLastRank = 4;

[[noreturn]] void refuse(const TensorSpec& spec, const std::string& rule) {
  throw ProtocolError(fmt::format("{} is not a tensor: {}", to_string(spec), rule));
}

constexpr Word<DType> kDTypes[]{{DType::float32, "float32"}, {DType::bfloat16, "bfloat16"}, {DType::int64, "int64"}};

std::string dtype_name(DType dtype) {
  const std::string name = word_of(kDTypes, dtype);
  return name.empty() ? fmt::format("dtype {}", static_cast<int>(dtype)) : name;
}

void check_memory_format(const TensorSpec& spec) {
  switch (spec.memory_format) {
    case MemoryFormat::contiguous:
      return;
    case MemoryFormat::channels_last:
      if (spec.shape.size() != kChannelsLastRank) refuse(spec, "channels_last needs four dimensions");
      return;
  }
  refuse(spec, "expected memory format 1 (contiguous) or 2 (channels_last)");
}

}  // namespace

std::int64_t element_size(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 4;
    case DType::bfloat16:
      return 2;
    case DType::int64:
      return 8;
  }
  throw ProtocolError(
      fmt::format("expected dtype 1 (float32), 2 (bfloat16) or 3 (int64), got {}", static_cast<int>(dtype)));
}

std::int64_t byte_size(const TensorSpec& spec) {
  if (spec.shape.size() > kMaxRank) refuse(spec, fmt::format("at most {} dimensions are allowed", kMaxRank));
  check_memory_format(spec);
  std::int64_t bytes = element_size(spec.dtype);
  for (const auto dimension : spec.shape) {
    if (dimension < 1 || dimension > std::numeric_limits<std::uint32_t>::max()) {
      refuse(spec, "every dimension must be 1 ... 4294967295");
    }
    if (bytes > std::numeric_limits<std::int64_t>::max() / dimension) refuse(spec, "its size exceeds 2^63 - 1 bytes");
    bytes *= dimension;
  }
  return bytes;
}

std::string to_string(const TensorSpec& spec) {
  std::string text = fmt::format("{}[{}]", dtype_name(spec.dtype), fmt::join(spec.shape, "x"));
  if (spec.memory_format == MemoryFormat::channels_last) {
    text += " channels_last";
  } else if (spec.memory_format != MemoryFormat::contiguous) {
    text += fmt::format(" memory format {}", static_cast<int>(spec.memory_format));
  }
  return text;
}

namespace {

enum class FrameType : std::uint16_t { control = 1, tensor = 2, challenge = 3, proof = 4 };

constexpr std::array kMagic{std::byte{'P'}, std::byte{'P'}, std::byte{'I'}, std::byte{'P'}};

/// The fields of the header as they are on the wire, valid or not.
struct RawHeader {
  std::array<std::byte, 4> magic = kMagic;
  std::uint16_t version = kProtocolVersion;
  std::uint16_t type = 0;
  std::uint64_t sequence = 0;
  std::uint64_t body_bytes = 0;
  std::uint32_t tag = 0;
  std::uint8_t dtype = 0;
  std::uint8_t memory_format = 0;
  std::uint8_t rank = 0;
  std::uint8_t codec = 0;
  std::array<std::uint32_t, kMaxRank> dims{};

  /// The one place that knows the order of the fields; reading and writing both go through it.
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor(self.version), visitor(self.type), visitor(self.sequence), visitor(self.body_bytes), visitor(self.tag);
    visitor(self.dtype), visitor(self.memory_format), visitor(self.rank), visitor(self.codec);
    for (auto& dim : self.dims) visitor(dim);
  }
};

HeaderBytes write(const RawHeader& raw) {
  HeaderBytes bytes;
  auto next = std::copy(raw.magic.begin(), raw.magic.end(), bytes.begin());
  RawHeader::visit(raw, [&next](std::unsigned_integral auto value) {
    for (std::size_t i = 0; i < sizeof(value); ++i) *next++ = static_cast<std::byte>(std::uint64_t{value} >> (8 * i));
  });
  return bytes;
}

RawHeader read(std::span<const std::byte, kHeaderBytes> bytes) {
  RawHeader raw;
  auto next = bytes.begin() + kMagic.size();
  std::copy(bytes.begin(), next, raw.magic.begin());
  RawHeader::visit(raw, [&next]<std::unsigned_integral T>(T& value) {
    std::uint64_t wide = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) wide |= std::to_integer<std::uint64_t>(*next++) << (8 * i);
    value = static_cast<T>(wide);
  });
  return raw;
}

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw ProtocolError("frame header: " + fmt::format(format, std::forward<Arguments>(arguments)...));
}

void check_preamble(const RawHeader& raw) {
  if (raw.magic != kMagic) {
    std::string got;
    for (const auto byte : raw.magic) got += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    refuse(
        "expected the bytes 50504950 (\"PPIP\") first, got {}: the peer is not paretopipe, or the stream is out of "
        "step",
        got);
  }
  if (raw.version != kProtocolVersion) {
    refuse("expected protocol version {}, got {}: run the same release on every device", kProtocolVersion, raw.version);
  }
}

void check_no_tensor_fields(const RawHeader& raw, std::string_view what) {
  if (raw.tag != 0 || raw.dtype != 0 || raw.memory_format != 0 || raw.rank != 0 || raw.codec != 0) {
    refuse("expected tag, dtype, memory format, rank and codec of a {} to be 0, got others", what);
  }
}

void check_control_bytes(std::uint64_t body_bytes) {
  if (body_bytes < 1 || body_bytes > kMaxControlBytes) {
    refuse("expected a control message of 1 ... {} bytes, got {}", kMaxControlBytes, body_bytes);
  }
}

ControlFrame decode_control(const RawHeader& raw) {
  check_no_tensor_fields(raw, "control message");
  if (std::ranges::any_of(raw.dims, [](auto dim) { return dim != 0; })) {
    refuse("expected the dimensions of a control message to be 0, got others");
  }
  if (raw.sequence != 0) refuse("expected sequence 0 in a control message, got {}", raw.sequence);
  check_control_bytes(raw.body_bytes);
  return {raw.body_bytes};
}

/// A challenge or a proof: 32 bytes in the place of the dimensions, and nothing else.
Bytes32 decode_bytes(const RawHeader& raw, std::string_view what) {
  check_no_tensor_fields(raw, what);
  if (raw.sequence != 0) refuse("expected sequence 0 in a {}, got {}", what, raw.sequence);
  if (raw.body_bytes != 0) refuse("expected a {} without a body, got {} bytes", what, raw.body_bytes);
  Bytes32 bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(raw.dims[i / 4] >> (8 * (i % 4)));
  return bytes;
}

void check(const Encoding& encoding) {
  constexpr auto kMostBytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (encoding.codec == 0) refuse("expected a codec of 1 ... 255, got 0");
  if (encoding.body_bytes >= 1 && encoding.body_bytes <= kMostBytes) return;
  refuse("expected 1 ... {} bytes of an encoded tensor, got {}", kMostBytes, encoding.body_bytes);
}

TensorFrame decode_tensor(const RawHeader& raw) {
  if (raw.rank > kMaxRank) refuse("expected a rank of 0 ... {}, got {}", kMaxRank, raw.rank);
  const auto unused = raw.dims.begin() + raw.rank;
  if (std::any_of(unused, raw.dims.end(), [](auto dim) { return dim != 0; })) {
    refuse("expected the dimensions after rank {} to be 0, got others", raw.rank);
  }
  TensorSpec spec{
      static_cast<DType>(raw.dtype), static_cast<MemoryFormat>(raw.memory_format), {raw.dims.begin(), unused}};
  // byte_size throws for an invalid spec; its result is positive and converts without loss.
  const auto expected = static_cast<std::uint64_t>(byte_size(spec));
  if (raw.codec != 0) {
    const Encoding encoding{raw.codec, raw.body_bytes};
    check(encoding);
    return {raw.tag, raw.sequence, std::move(spec), encoding};
  }
  if (raw.body_bytes != expected) {
    refuse("expected a body of {} bytes for {}, got {}", expected, to_string(spec), raw.body_bytes);
  }
  return {raw.tag, raw.sequence, std::move(spec)};
}

RawHeader to_raw(const ControlFrame& frame) {
  check_control_bytes(frame.body_bytes);
  return {.type = static_cast<std::uint16_t>(FrameType::control), .body_bytes = frame.body_bytes};
}

RawHeader to_raw(FrameType type, const Bytes32& bytes) {
  RawHeader raw{.type = static_cast<std::uint16_t>(type)};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    raw.dims[i / 4] |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * (i % 4));
  }
  return raw;
}

RawHeader to_raw(const Challenge& challenge) {
  return to_raw(FrameType::challenge, challenge.nonce);
}

RawHeader to_raw(const Proof& proof) {
  return to_raw(FrameType::proof, proof.mac);
}

RawHeader to_raw(const TensorFrame& frame) {
  RawHeader raw{.type = static_cast<std::uint16_t>(FrameType::tensor),
                .sequence = frame.sequence,
                .body_bytes = static_cast<std::uint64_t>(byte_size(frame.spec)),
                .tag = frame.tag,
                .dtype = static_cast<std::uint8_t>(frame.spec.dtype),
                .memory_format = static_cast<std::uint8_t>(frame.spec.memory_format),
                .rank = static_cast<std::uint8_t>(frame.spec.shape.size())};
  std::ranges::transform(frame.spec.shape, raw.dims.begin(), [](auto dim) { return static_cast<std::uint32_t>(dim); });
  if (frame.encoding) {
    check(*frame.encoding);
    raw.codec = frame.encoding->codec;
    raw.body_bytes = frame.encoding->body_bytes;
  }
  return raw;
}

std::string describe(const ControlFrame& frame) {
  return fmt::format("control message of {} bytes", frame.body_bytes);
}

std::string describe(const Challenge&) {
  return "challenge";
}

std::string describe(const Proof&) {
  return "proof";
}

std::string describe(const TensorFrame& frame) {
  auto text = fmt::format("tensor {} (tag {}, sequence {})", to_string(frame.spec), frame.tag, frame.sequence);
  if (frame.encoding) text += fmt::format(", {} bytes of codec {}", frame.encoding->body_bytes, frame.encoding->codec);
  return text;
}

}  // namespace

HeaderBytes encode(const FrameHeader& header) {
  return std::visit([](const auto& frame) { return write(to_raw(frame)); }, header);
}

FrameHeader decode(std::span<const std::byte, kHeaderBytes> bytes) {
  const RawHeader raw = read(bytes);
  check_preamble(raw);
  switch (static_cast<FrameType>(raw.type)) {
    case FrameType::control:
      return decode_control(raw);
    case FrameType::tensor:
      return decode_tensor(raw);
    case FrameType::challenge:
      return Challenge{decode_bytes(raw, "challenge")};
    case FrameType::proof:
      return Proof{decode_bytes(raw, "proof")};
  }
  refuse("expected type 1 (control), 2 (tensor), 3 (challenge) or 4 (proof), got {}", raw.type);
}

std::string to_string(const FrameHeader& header) {
  return std::visit([](const auto& frame) { return describe(frame); }, header);
}

}  // namespace paretopipe::wire
