// libFuzzer entry point: an image of a person's own. Its first byte chooses the decoder, which gets all of it: a wrong
// beginning reaches it, too. libjpeg and libpng themselves are the system's, without instrumentation.
#include <paretopipe/compute/torch/decode_image.hpp>
#include <paretopipe/core/error.hpp>

#include <cstdint>
#include <cstdlib>

namespace {

using namespace paretopipe;

/// More would only be slower.
constexpr std::size_t kLongest = 1 << 16;

void decode(compute::DecodedImage (*decoder)(std::span<const std::byte>), std::span<const std::byte> file) {
  try {
    const auto image = decoder(file);
    const auto pixels = static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width);
    if (pixels == 0 || image.pixels.size() != 3 * pixels) std::abort();
  } catch (const UsageError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  if (size == 0 || size > kLongest) return 0;
  decode(data[0] == 0x89 ? compute::decode_png : compute::decode_jpeg, file);
  return 0;
}
