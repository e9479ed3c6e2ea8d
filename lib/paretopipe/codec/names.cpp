#include <paretopipe/codec/codec.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace paretopipe::codec {

namespace {

/// In the order of the enumeration.
const std::array kQuantisers{
    Row{kNone, "the values as they are", 32},
    Row{"float16", "IEEE 754 half precision, rounded to nearest even; up to 65504", 16, true},
    Row{"bfloat16", "the upper half of a float32, rounded to nearest even", 16, true},
    Row{"uniform8", "256 levels between the tensor's minimum and maximum", 8, true},
    Row{"channel8", "256 levels between each channel's minimum and maximum", 8, true},
    Row{"channel4", "16 levels between each channel's minimum and maximum", 4, true},
    Row{"sort16", "sort quantisation: 16 groups of equal count, 4096 levels in each", 16, true},
    Row{"sort12", "sort quantisation: 8 groups of equal count, 512 levels in each; packed", 12, true},
    Row{"sort12-wide", "sort12 as published, a code in 16 bits", 16, true},
    Row{"sort8", "sort quantisation: 4 groups of equal count, 64 levels in each", 8, true},
    Row{"sort4", "sort quantisation: 2 groups of equal count, 8 levels in each; packed", 4, true},
    Row{"sort4-wide", "sort4 as published, a code in 8 bits", 8, true},
    Row{"uint8", "an image's pixels in 8 bits, as a camera has them; only for --codec-input", 8, true, true},
};

const std::array kCompressors{
    Row{kNone, "", 0},
    Row{"zstd", "libzstd at level 1, lossless; also behind a quantiser: channel8+zstd", 0},
    Row{"lz4", "liblz4, lossless; also behind a quantiser: channel8+lz4", 0},
};

template <std::size_t kSize>
std::size_t place_of(const std::array<Row, kSize>& rows, std::string_view name) {
  return static_cast<std::size_t>(
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; }) - rows.begin());
}

[[noreturn]] void refuse(std::string_view name) {
  std::string names;
  for (const auto& row : catalogue()) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  throw UsageError(
      fmt::format("\"{}\" is no codec; there are {}, and combinations such as channel8+zstd", name, names));
}

}  // namespace

std::uint8_t Codec::number() const {
  return static_cast<std::uint8_t>(16 * static_cast<int>(compressor) + static_cast<int>(quantiser));
}

const std::vector<Row>& catalogue() {
  static const auto rows = [] {
    std::vector<Row> all(kQuantisers.begin(), kQuantisers.end());
    all.insert(all.end(), kCompressors.begin() + 1, kCompressors.end());
    return all;
  }();
  return rows;
}

Codec parse(std::string_view name) {
  const auto plus = name.find('+');
  const auto first = name.substr(0, plus);
  Codec codec;
  if (const auto place = place_of(kQuantisers, first); place < kQuantisers.size()) {
    codec.quantiser = static_cast<Quantiser>(place);
  } else if (const auto alone = place_of(kCompressors, first); alone < kCompressors.size() && plus == name.npos) {
    codec.compressor = static_cast<Compressor>(alone);
  } else {
    refuse(name);
  }
  if (plus == name.npos) return codec;
  const auto place = place_of(kCompressors, name.substr(plus + 1));
  if (place == 0 || place == kCompressors.size() || !codec.lossy()) refuse(name);
  codec.compressor = static_cast<Compressor>(place);
  return codec;
}

std::string to_string(const Codec& codec) {
  const auto quantiser = kQuantisers.at(static_cast<std::size_t>(codec.quantiser)).name;
  const auto compressor = kCompressors.at(static_cast<std::size_t>(codec.compressor)).name;
  if (codec.compressor == Compressor::none) return std::string(quantiser);
  return codec.lossy() ? fmt::format("{}+{}", quantiser, compressor) : std::string(compressor);
}

}  // namespace paretopipe::codec
