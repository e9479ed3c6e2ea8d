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

Layout layout_of(const Codec& codec, const std::uint8_t* data) {
  const auto element = static_cast<Element>(data[2] % 3);
  const std::size_t first = 1 + data[3] % 16, second = 1 + data[4] % 16, third = 1 + data[3] / 16;
  if (!codec.of_images()) return {element, first * second * third, first, second};
  const auto pixels = first * second;
  return {element, 3 * pixels * third, 3, data[4] < 128 ? pixels : 1, first, second};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kChoices = 5;
  if (size < kChoices) return 0;
  const Codec codec{static_cast<Quantiser>(data[0] % 14), static_cast<Compressor>(data[1] % 3)};
  const auto layout = layout_of(codec, data);
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
