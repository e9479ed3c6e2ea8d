#include "quantisers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "images.hpp"
#include "kernels.hpp"
#include "order_statistics.hpp"
#include "sort_kernels.hpp"

namespace paretopipe::codec {

namespace {

std::uint8_t* bytes_of(std::span<std::byte> into) {
  return reinterpret_cast<std::uint8_t*>(into.data());
}

const std::uint8_t* bytes_of(std::span<const std::byte> body) {
  return reinterpret_cast<const std::uint8_t*>(body.data());
}

std::size_t packed_bytes(std::size_t values, int bits) {
  return (values * static_cast<std::size_t>(bits) + 7) / 8;
}

/// Names the first value that no quantiser keeps. It is searched for only once there is one.
[[noreturn]] void refuse(std::span<const float> values, float most) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [most](float value) { return !std::isfinite(value) || std::abs(value) > most; });
  if (found == values.end()) throw CannotEncode("its values span more than a float32 can say");
  throw CannotEncode(fmt::format("value {} of {} is {}{}", found - values.begin(), values.size(), *found,
                                 std::isfinite(*found) ? ", which is too large" : ""));
}

void require(bool kept, std::span<const float> values, float most) {
  if (!kept) refuse(values, most);
}

constexpr float kAny = std::numeric_limits<float>::max();
// Values round to the nearest of the type, so that some beyond its largest number fit, too: 65519 becomes 65504.
constexpr float kBeyondFloat16 = 65520, kBeyondBfloat16 = 0x1.ffp127F;  ///< the least that round to infinity

void write(std::span<const Levels> levels, std::span<std::byte> into) {
  std::memcpy(into.data(), levels.data(), levels.size_bytes());
}

/// True if all of so many levels are finite and ascend. Encoders keep to it, so that decoders can ask for it.
bool usable(const Levels& levels, int count) {
  return levels.step >= 0 && std::isfinite(levels.min + static_cast<float>(count - 1) * levels.step);
}

/// The pairs before the codes, for `count` levels each. A peer may have written anything there.
std::vector<Levels> read_levels(std::span<const std::byte> body, std::size_t pairs, int count) {
  std::vector<Levels> levels(pairs);
  std::memcpy(levels.data(), body.data(), pairs * sizeof(Levels));
  for (const auto& of : levels) {
    if (usable(of, count)) continue;
    throw Damaged(fmt::format("levels that begin at {} and are {} apart, which no encoder makes", of.min, of.step));
  }
  return levels;
}

std::vector<Levels> levels_of(std::span<const Extremes> extremes, int count, std::span<const float> values) {
  std::vector<Levels> result;
  for (const auto& of : extremes) {
    result.push_back(codec::levels_of(of, count));
    // The step of a span beyond float32 becomes 0, which alone would look like that of equal values.
    require(std::isfinite(of.max - of.min) && usable(result.back(), count), values, kAny);
  }
  return result;
}

// Either the values of a channel are consecutive, or every row has one value of each channel.

std::vector<Extremes> extremes_of_channels(const Layout& layout, std::span<const float> values) {
  std::vector<Extremes> extremes(layout.channels);
  bool finite = true;
  if (layout.stride == 1 && layout.channels > 1) {
    extremes_of_rows(values, extremes, finite);
  } else {
    for (std::size_t begin = 0; begin < values.size(); begin += layout.stride) {
      const auto channel = begin / layout.stride % layout.channels;
      const auto found = extremes_of(values.subspan(begin, layout.stride), finite);
      auto& all = extremes[channel];
      const bool first = begin / layout.stride < layout.channels;
      all = first ? found : Extremes{std::min(all.min, found.min), std::max(all.max, found.max)};
    }
  }
  require(finite, values, kAny);
  return extremes;
}

void quantise_channels(const Layout& layout, std::span<const float> values, std::span<const Levels> levels, int count,
                       std::uint8_t* codes) {
  if (layout.stride == 1 && layout.channels > 1) return quantise_rows(values, levels, count, codes);
  for (std::size_t begin = 0; begin < values.size(); begin += layout.stride) {
    quantise(values.subspan(begin, layout.stride), levels[begin / layout.stride % layout.channels], count,
             codes + begin);
  }
}

void restore_channels(const Layout& layout, const std::uint8_t* codes, std::span<const Levels> levels,
                      std::span<float> values) {
  if (layout.stride == 1 && layout.channels > 1) return restore_rows(codes, levels, values);
  for (std::size_t begin = 0; begin < values.size(); begin += layout.stride) {
    restore(codes + begin, levels[begin / layout.stride % layout.channels], values.subspan(begin, layout.stride));
  }
}

/// The whole tensor as one channel.
Layout as_one_channel(const Layout& layout) {
  return {layout.element, layout.values, 1, layout.values};
}

/// A single channel is consecutive whatever its stride is. Without this, each call would quantise one value of
/// [samples, features].
Layout in_longest_runs(const Layout& layout) {
  return layout.channels == 1 ? as_one_channel(layout) : layout;
}

void quantise_affine(const Layout& tensor, int bits, std::span<const float> values, std::span<std::byte> into,
                     Scratch& scratch) {
  const auto layout = in_longest_runs(tensor);
  const int count = 1 << bits;
  const auto levels = levels_of(extremes_of_channels(layout, values), count, values);
  write(levels, into);
  auto* codes = bytes_of(into.subspan(levels.size() * sizeof(Levels)));
  if (bits == 8) return quantise_channels(layout, values, levels, count, codes);
  scratch.codes.resize(values.size());
  quantise_channels(layout, values, levels, count, scratch.codes.data());
  pack4(scratch.codes, codes);
}

void restore_affine(const Layout& tensor, int bits, std::span<const std::byte> body, std::span<float> values,
                    Scratch& scratch) {
  const auto layout = in_longest_runs(tensor);
  const auto levels = read_levels(body, layout.channels, 1 << bits);
  const auto* codes = bytes_of(body.subspan(levels.size() * sizeof(Levels)));
  if (bits == 8) return restore_channels(layout, codes, levels, values);
  scratch.codes.resize(values.size());
  unpack4(codes, scratch.codes);
  restore_channels(layout, scratch.codes.data(), levels, values);
}

/// A sort quantiser: 2^group_bits groups of equal count, 2^level_bits levels in each.
struct SortBits {
  int group_bits = 0;
  int level_bits = 0;
  int carried = 0;  ///< bits of a code on the wire, at least the sum of the two

  int groups() const { return 1 << group_bits; }
  int levels() const { return 1 << level_bits; }
};

SortBits sort_bits(Quantiser quantiser) {
  switch (quantiser) {
    case Quantiser::sort16:
      return {4, 12, 16};
    case Quantiser::sort12:
      return {3, 9, 12};
    case Quantiser::sort12_wide:
      return {3, 9, 16};
    case Quantiser::sort8:
      return {2, 6, 8};
    case Quantiser::sort4:
      return {1, 3, 4};
    case Quantiser::sort4_wide:
      return {1, 3, 8};
    default:
      throw Error(ExitCode::internal, "this quantiser does not sort");
  }
}

/// Group g has the sorted values from rank ⌊g · n / G⌋ on. A group without values has the border of the next one.
std::vector<Levels> groups_of(const SortBits& bits, std::span<const float> values, Scratch& scratch) {
  const auto groups = static_cast<std::size_t>(bits.groups());
  std::vector<std::size_t> ranks;
  for (std::size_t group = 1; group < groups; ++group) {  // the last rank of the one before, and its own first one
    const auto begin = group * values.size() / groups;
    ranks.push_back(std::max(begin, std::size_t{1}) - 1);
    ranks.push_back(begin);
  }
  const auto [seen, at_ranks] = order_statistics(values, ranks, scratch);
  require(seen.finite, values, kAny);
  std::vector<Extremes> extremes(groups, seen.extremes);
  for (std::size_t group = 1; group < groups; ++group) {
    extremes[group - 1].max = at_ranks[2 * group - 2];
    extremes[group].min = at_ranks[2 * group - 1];
  }
  for (auto& group : extremes) group.max = std::max(group.min, group.max);  // one without values
  return levels_of(extremes, bits.levels(), values);
}

void quantise_sorted(const SortBits& bits, std::span<const float> values, std::span<std::byte> into, Scratch& scratch) {
  const auto groups = groups_of(bits, values, scratch);
  write(groups, into);
  auto* codes = bytes_of(into.subspan(groups.size() * sizeof(Levels)));
  if (bits.carried == 8) return quantise_groups(values, groups, bits.levels(), codes);
  if (bits.carried == 4) {
    scratch.codes.resize(values.size());
    quantise_groups(values, groups, bits.levels(), scratch.codes.data());
    return pack4(scratch.codes, codes);
  }
  scratch.wide_codes.resize(values.size());
  quantise_groups(values, groups, bits.levels(), scratch.wide_codes.data());
  if (bits.carried == 12) return pack12(scratch.wide_codes, codes);
  std::memcpy(codes, scratch.wide_codes.data(), values.size() * sizeof(std::uint16_t));
}

/// The value of every code of so many bits, also of codes that no sender makes.
std::span<const float> make_table(const SortBits& bits, std::span<const Levels> groups, Scratch& scratch) {
  const auto per_group = static_cast<std::size_t>(bits.levels());
  const auto size = std::size_t{1} << bits.carried;
  scratch.table.assign(size, 0);
  for (std::size_t code = 0; code < std::min(size, groups.size() * per_group); ++code) {
    const auto& group = groups[code / per_group];
    scratch.table[code] = group.min + static_cast<float>(code % per_group) * group.step;
  }
  return scratch.table;
}

void restore_sorted(const SortBits& bits, std::span<const std::byte> body, std::span<float> values, Scratch& scratch) {
  const auto groups = read_levels(body, static_cast<std::size_t>(bits.groups()), bits.levels());
  const auto table = make_table(bits, groups, scratch);
  const auto* codes = bytes_of(body.subspan(groups.size() * sizeof(Levels)));
  if (bits.carried == 8) return restore(codes, table, values);
  if (bits.carried == 4) {
    scratch.codes.resize(values.size());
    unpack4(codes, scratch.codes);
    return restore(scratch.codes.data(), table, values);
  }
  scratch.wide_codes.resize(values.size());
  if (bits.carried == 12) {
    unpack12(codes, scratch.wide_codes);
  } else {
    std::memcpy(scratch.wide_codes.data(), codes, values.size() * sizeof(std::uint16_t));
  }
  restore(scratch.wide_codes.data(), table, values);
}

void quantise_half(Quantiser quantiser, std::span<const float> values, std::span<std::byte> into, Scratch& scratch) {
  scratch.wide_codes.resize(values.size());
  bool fits = true;
  if (quantiser == Quantiser::float16) {
    to_float16(values, scratch.wide_codes.data(), fits);
    require(fits, values, std::nextafter(kBeyondFloat16, 0.0F));
  } else {
    to_bfloat16(values, scratch.wide_codes.data(), fits);
    require(fits, values, std::nextafter(kBeyondBfloat16, 0.0F));
  }
  std::memcpy(into.data(), scratch.wide_codes.data(), into.size());
}

void restore_half(Quantiser quantiser, std::span<const std::byte> body, std::span<float> values, Scratch& scratch) {
  scratch.wide_codes.resize(values.size());
  std::memcpy(scratch.wide_codes.data(), body.data(), body.size());
  if (quantiser == Quantiser::float16) return from_float16(scratch.wide_codes.data(), values);
  from_bfloat16(scratch.wide_codes.data(), values);
}

void fill(Quantiser quantiser, const Layout& layout, std::span<const float> values, std::span<std::byte> into,
          Scratch& scratch) {
  switch (quantiser) {
    case Quantiser::float16:
    case Quantiser::bfloat16:
      return quantise_half(quantiser, values, into, scratch);
    case Quantiser::uint8:
      return to_pixels(layout, values, bytes_of(into));
    case Quantiser::uniform8:
      return quantise_affine(as_one_channel(layout), 8, values, into, scratch);
    case Quantiser::channel8:
      return quantise_affine(layout, 8, values, into, scratch);
    case Quantiser::channel4:
      return quantise_affine(layout, 4, values, into, scratch);
    default:
      return quantise_sorted(sort_bits(quantiser), values, into, scratch);
  }
}

}  // namespace

std::size_t quantised_bytes(Quantiser quantiser, const Layout& layout) {
  switch (quantiser) {
    case Quantiser::float16:
    case Quantiser::bfloat16:
      return 2 * layout.values;
    case Quantiser::uint8:
      return layout.values;
    case Quantiser::jpeg:
      return most_bytes_of_jpegs(layout);
    case Quantiser::uniform8:
      return sizeof(Levels) + layout.values;
    case Quantiser::channel8:
      return layout.channels * sizeof(Levels) + layout.values;
    case Quantiser::channel4:
      return layout.channels * sizeof(Levels) + packed_bytes(layout.values, 4);
    default:
      break;
  }
  const auto bits = sort_bits(quantiser);
  return static_cast<std::size_t>(bits.groups()) * sizeof(Levels) + packed_bytes(layout.values, bits.carried);
}

std::size_t quantise(const Codec& codec, const Layout& layout, std::span<const float> values, std::span<std::byte> into,
                     Scratch& scratch) {
  if (codec.quantiser == Quantiser::jpeg) return to_jpegs(layout, values, codec.jpeg_quality, into, scratch);
  fill(codec.quantiser, layout, values, into, scratch);
  return into.size();
}

void restore(Quantiser quantiser, const Layout& layout, std::span<const std::byte> body, std::span<float> values,
             Scratch& scratch) {
  switch (quantiser) {
    case Quantiser::float16:
    case Quantiser::bfloat16:
      return restore_half(quantiser, body, values, scratch);
    case Quantiser::uint8:
      return from_pixels(layout, bytes_of(body), values);
    case Quantiser::jpeg:
      return from_jpegs(layout, body, values, scratch);
    case Quantiser::uniform8:
      return restore_affine(as_one_channel(layout), 8, body, values, scratch);
    case Quantiser::channel8:
      return restore_affine(layout, 8, body, values, scratch);
    case Quantiser::channel4:
      return restore_affine(layout, 4, body, values, scratch);
    default:
      return restore_sorted(sort_bits(quantiser), body, values, scratch);
  }
}

}  // namespace paretopipe::codec
