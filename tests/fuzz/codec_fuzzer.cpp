// libFuzzer entry point: a body that a hostile peer sends for an encoded tensor. The first bytes choose the codec and
// the tensor, as the driver would have announced them.
#include <paretopipe/codec/codec.hpp>

#include <cstdint>
#include <span>
#include <vector>

using namespace paretopipe::codec;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kChoices = 5;
  if (size < kChoices) return 0;
  const Codec codec{static_cast<Quantiser>(data[0] % 12), static_cast<Compressor>(data[1] % 3)};
  const std::size_t channels = 1 + data[3] % 16, stride = 1 + data[4] % 16;
  const Layout layout{static_cast<Element>(data[2] % 3), channels * stride * (1 + data[3] / 16), channels, stride};
  const auto body = std::as_bytes(std::span(data, size)).subspan(kChoices);
  std::vector<std::byte> tensor(layout.bytes());
  Scratch scratch;
  try {
    decode(codec, layout, body, tensor, scratch);
  } catch (const Damaged&) {
  }
  return 0;
}
