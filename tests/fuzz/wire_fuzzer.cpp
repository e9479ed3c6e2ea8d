// libFuzzer entry point: a stream that starts with a frame, as a hostile peer would send it.
#include <paretopipe/wire/control_body.hpp>
#include <paretopipe/wire/frame.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

namespace {

using namespace paretopipe::wire;

void require(bool holds) {
  if (!holds) std::abort();
}

/// The first two properties of README.md: what is accepted is canonical, and is what it says.
std::optional<FrameHeader> decode_header(std::span<const std::byte, kHeaderBytes> bytes) {
  std::optional<FrameHeader> header;
  try {
    header = decode(bytes);
  } catch (const ProtocolError&) {
    return std::nullopt;
  }
  const HeaderBytes again = encode(*header);
  require(std::equal(again.begin(), again.end(), bytes.begin()));
  require(!to_string(*header).empty());
  return header;
}

/// Whatever is accepted can be sent on and means the same there.
void decode_body(std::string_view text) {
  std::optional<nlohmann::json> message;
  try {
    message = decode_control_body(text);
  } catch (const ProtocolError&) {
    return;
  }
  require(decode_control_body(encode_control_body(*message)) == *message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (size < kHeaderBytes) return 0;
  const auto header = decode_header(bytes.first<kHeaderBytes>());
  if (header && std::holds_alternative<ControlFrame>(*header)) {
    decode_body({reinterpret_cast<const char*>(data) + kHeaderBytes, size - kHeaderBytes});
  }
  return 0;
}
