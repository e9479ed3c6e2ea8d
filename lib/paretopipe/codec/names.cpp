#include <paretopipe/codec/codec.hpp>
#include <paretopipe/core/text.hpp>

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
    Row{"jpeg", "an image's JPEG, as a camera stores it, quality 90; jpeg:75 has another; only for --codec-input", 0,
        true, true, Parameter{"quality", 1, 100, &Codec::jpeg_quality}},
};

const std::array kCompressors{
    Row{kNone, "", 0},
    Row{"zstd", "libzstd at level 1, lossless; zstd:9 has another; also behind a quantiser: channel8+zstd", 0, false,
        false, Parameter{"level", 1, 19, &Codec::zstd_level}},
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

/// A part of a name, before and after its colon.
struct Part {
  std::string_view name;
  std::optional<std::string_view> parameter{};
};

Part part_of(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos) return {text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

void read_parameter(const Part& part, const Row& row, Codec& codec) {
  if (!part.parameter) return;
  if (!row.parameter)
    throw UsageError(fmt::format("{} has no parameter, and this names {}", row.name, *part.parameter));
  const auto& [name, least, most, value] = *row.parameter;
  if (const auto read = parse_number<int>(*part.parameter); read && *read >= least && *read <= most) {
    codec.*value = *read;
    return;
  }
  throw UsageError(fmt::format("the {} of {} is {} to {}, such as {}:{}, and no \"{}\"", name, row.name, least, most,
                               row.name, most / 2, *part.parameter));
}

/// The row's name, with its parameter unless that is the usual one.
std::string text_of(const Row& row, const Codec& codec) {
  if (!row.parameter) return std::string(row.name);
  const auto value = row.parameter->value;
  return codec.*value == Codec{}.*value ? std::string(row.name) : fmt::format("{}:{}", row.name, codec.*value);
}

}  // namespace

std::uint8_t Codec::number() const {
  // 1 and 2 were for compressors' bodies without the byte that says the order of their bytes.
  const int number_of_compressor = compressor == Compressor::none ? 0 : static_cast<int>(compressor) + 2;
  return static_cast<std::uint8_t>(16 * number_of_compressor + static_cast<int>(quantiser));
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
  const auto first = part_of(name.substr(0, plus));
  Codec codec;
  if (const auto place = place_of(kQuantisers, first.name); place < kQuantisers.size()) {
    codec.quantiser = static_cast<Quantiser>(place);
    read_parameter(first, kQuantisers[place], codec);
  } else if (const auto alone = place_of(kCompressors, first.name); alone < kCompressors.size() && plus == name.npos) {
    codec.compressor = static_cast<Compressor>(alone);
    read_parameter(first, kCompressors[alone], codec);
  } else {
    refuse(name);
  }
  if (plus == name.npos) return codec;
  const auto second = part_of(name.substr(plus + 1));
  const auto place = place_of(kCompressors, second.name);
  if (place == 0 || place == kCompressors.size() || !codec.lossy()) refuse(name);
  if (codec.quantiser == Quantiser::jpeg) throw UsageError(fmt::format("{}: a JPEG is compressed already", name));
  codec.compressor = static_cast<Compressor>(place);
  read_parameter(second, kCompressors[place], codec);
  return codec;
}

std::string to_string(const Codec& codec) {
  const auto quantiser = text_of(kQuantisers.at(static_cast<std::size_t>(codec.quantiser)), codec);
  const auto compressor = text_of(kCompressors.at(static_cast<std::size_t>(codec.compressor)), codec);
  if (codec.compressor == Compressor::none) return quantiser;
  return codec.lossy() ? fmt::format("{}+{}", quantiser, compressor) : compressor;
}

}  // namespace paretopipe::codec
