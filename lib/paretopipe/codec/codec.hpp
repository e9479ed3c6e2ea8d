#pragma once
#include <paretopipe/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Encodes a tensor into fewer bytes for crossing a cut, and decodes it. Pure: no input or output, no state but scratch
/// memory.
namespace paretopipe::codec {

/// The name of the codec that leaves a tensor as it is.
inline constexpr const char* kNone = "none";

/// How values become codes of fewer bits. The numbers are part of the wire protocol. README.md says what each does.
enum class Quantiser : std::uint8_t {
  none = 0,
  float16 = 1,
  bfloat16 = 2,
  uniform8 = 3,
  channel8 = 4,
  channel4 = 5,
  sort16 = 6,
  sort12 = 7,
  sort12_wide = 8,
  sort8 = 9,
  sort4 = 10,
  sort4_wide = 11,
  uint8 = 12,
  jpeg = 13
};

/// How bytes become fewer bytes without loss. Codec::number() has the numbers of the wire protocol.
enum class Compressor : std::uint8_t { none = 0, zstd = 1, lz4 = 2 };

/// A codec as a person names it: a quantiser, a compressor, or a quantiser and the compressor that takes its codes
/// ("channel8+zstd"). A parameter follows its part's name unless it is the usual one ("jpeg:75", "channel8+zstd:9").
struct Codec {
  Quantiser quantiser = Quantiser::none;
  Compressor compressor = Compressor::none;
  int jpeg_quality = 90;  ///< libjpeg's, of jpeg alone; a decoder need not know it
  int zstd_level = 1;     ///< libzstd's, of zstd alone; a decoder need not know it

  bool operator==(const Codec&) const = default;

  bool encodes() const { return *this != Codec{}; }
  bool lossy() const { return quantiser != Quantiser::none; }
  /// Encodes images that were normalised (pixels.hpp), and nothing else.
  bool of_images() const { return quantiser == Quantiser::uint8 || quantiser == Quantiser::jpeg; }
  /// For wire::Encoding: 16 × the compressor's number + the quantiser's; 0 if it does not encode.
  std::uint8_t number() const;
};

/// A number that may follow a part of a codec's name.
struct Parameter {
  std::string_view name;
  int least = 0;
  int most = 0;
  int Codec::*value = nullptr;
};

/// What `paretopipe codecs` says of a part of a codec's name.
struct Row {
  std::string_view name;
  std::string_view meaning;
  double bits_per_value = 0;  ///< of float32, without the few bytes beside the codes; 0: depends on the values
  bool lossy = false;
  bool of_images = false;  ///< only for a model's input
  std::optional<Parameter> parameter{};
};
/// All quantisers, `none` first, and then all compressors.
const std::vector<Row>& catalogue();

/// Throws UsageError, which names the codecs that there are, for another name.
Codec parse(std::string_view name);
std::string to_string(const Codec& codec);

/// A tensor cannot be encoded: it holds NaN, an infinity or a value too large for the quantiser, or it should be an
/// image and is none. The text says which value, and where.
class CannotEncode : public Error {
 public:
  explicit CannotEncode(const std::string& message) : Error(ExitCode::environment, message) {}
};

/// The body that came is not what the codec makes of such a tensor.
class Damaged : public Error {
 public:
  explicit Damaged(const std::string& message) : Error(ExitCode::environment, message) {}
};

/// The type of a tensor's elements. Integers, such as token ids, pass a quantiser as they are.
enum class Element { float32, bfloat16, int64 };

/// A dense tensor as a codec sees it: value i belongs to channel i / stride mod channels. Activations of shape [N, C,
/// H, W] have C channels, with the stride H · W, or 1 in the order channels_last. Other tensors of
/// three dimensions and more have the last one's channels, with the stride 1. [samples, features] have one channel, for
/// a pair of levels a feature would be more bytes than the values are.
struct Layout {
  Element element = Element::float32;
  std::size_t values = 0;
  std::size_t channels = 1;  ///< channels · stride divides `values`
  std::size_t stride = 1;
  std::size_t height = 1;  ///< of each image, where there are four dimensions
  std::size_t width = 1;

  std::size_t bytes() const {
    return values * (element == Element::float32 ? 4 : element == Element::bfloat16 ? 2 : 8);
  }
};

/// The most bytes that a codec makes of a tensor. It makes exactly as many, whatever the values are, unless it
/// compresses or makes JPEGs.
std::size_t most_bytes(const Codec& codec, const Layout& layout);

/// Memory that encoding and decoding need beside their input and output. Kept from one tensor to the next, so that only
/// the first one allocates. For one thread at a time.
struct Scratch {
  std::vector<float> values;        ///< of a tensor of bfloat16
  std::vector<std::uint8_t> codes;  ///< one a byte, before they are packed
  std::vector<std::uint16_t> wide_codes;
  std::vector<std::byte> body;  ///< between a quantiser and a compressor
  std::vector<std::byte> shuffled;
  std::vector<float> selected;
  std::vector<float> table;
  std::shared_ptr<void> compressing;  ///< the state of libzstd
  std::shared_ptr<void> decompressing;
};

/// Encodes a tensor of `layout.bytes()` bytes into `into`, which has room for most_bytes(), and returns how many bytes
/// of it were filled. Throws CannotEncode.
std::size_t encode(const Codec& codec, const Layout& layout, std::span<const std::byte> values,
                   std::span<std::byte> into, Scratch& scratch);

/// Decodes a body into a tensor of `layout.bytes()` bytes. Throws Damaged for a body that encode() cannot have made;
/// reads and writes nothing beyond the two spans, and allocates no more than the tensor's size, whatever the body says.
void decode(const Codec& codec, const Layout& layout, std::span<const std::byte> body, std::span<std::byte> into,
            Scratch& scratch);

}  // namespace paretopipe::codec
