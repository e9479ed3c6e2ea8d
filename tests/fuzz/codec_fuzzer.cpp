// libFuzzer entry point: a body that a hostile peer sends for an encoded tensor. The first bytes choose the codec and
// the tensor, as the driver would have announced them. Whatever is accepted as codes of levels becomes finite values.
#include <paretopipe/codec/codec.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

using namespace paretopipe::codec;

namespace {

void require_finite(std::span<const std::byte> tensor) {
  const std::span values(reinterpret_cast<const float*>(tensor.data()), tensor.size() / sizeof(float));
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kChoices = 5;
  if (size < kChoices) return 0;
  const Codec codec{static_cast<Quantiser>(data[0] % 13), static_cast<Compressor>(data[1] % 3)};
  const std::size_t channels = 1 + data[3] % 16, stride = 1 + data[4] % 16;
  const Layout layout{static_cast<Element>(data[2] % 3), channels * stride * (1 + data[3] / 16), channels, stride};
  const auto body = std::as_bytes(std::span(data, size)).subspan(kChoices);
  std::vector<std::byte> tensor(layout.bytes());
  Scratch scratch;
  try {
    decode(codec, layout, body, tensor, scratch);
    if (codec.quantiser >= Quantiser::uniform8 && layout.element == Element::float32) require_finite(tensor);
  } catch (const Damaged&) {
  }
  return 0;
}
