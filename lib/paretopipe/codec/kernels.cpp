#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

// A program for any x86-64 has these loops a second time for CPUs with AVX2, and takes them where it runs: by
// what the CPU has, for "arch=haswell" would be that generation alone. Sanitizers instrument what chooses, which runs
// before they are ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PARETOPIPE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PARETOPIPE_CLONES
#endif

namespace paretopipe::codec {

namespace {

constexpr std::size_t kLanes = 32;  ///< independent sums, so that a loop over them needs no order of its own
constexpr std::uint32_t kExponent = 0x7f800000;

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// Values that are all equal have no step to divide by.
float divisor_of(const Levels& levels) {
  return levels.step > 0 ? levels.step : 1;
}

/// Rounds a number below 2^22 to the nearest integer, halves to the even one, as the addition does. No CPU needs an
/// instruction for that.
int rounded(float number) {
  constexpr float kUnits = 0x1.8p23F;
  return static_cast<int>(bits_of(number + kUnits) - bits_of(kUnits));
}

}  // namespace

PARETOPIPE_CLONES Extremes extremes_of(std::span<const float> values, bool& finite) {
  std::array<float, kLanes> low, high;
  std::array<std::uint32_t, kLanes> bad{};
  low.fill(values.front());
  high.fill(values.front());
  const auto* value = values.data();
  const auto whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float x = value[i + lane];
      low[lane] = x < low[lane] ? x : low[lane];
      high[lane] = x > high[lane] ? x : high[lane];
      bad[lane] |= (bits_of(x) & kExponent) == kExponent ? 1U : 0U;
    }
  }
  for (std::size_t i = whole; i < values.size(); ++i) {
    low[0] = std::min(low[0], value[i]);
    high[0] = std::max(high[0], value[i]);
    bad[0] |= (bits_of(value[i]) & kExponent) == kExponent ? 1U : 0U;
  }
  if (std::any_of(bad.begin(), bad.end(), [](auto lane) { return lane != 0; })) finite = false;
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

PARETOPIPE_CLONES void extremes_of_rows(std::span<const float> values, std::span<Extremes> channels, bool& finite) {
  const auto count = channels.size();
  std::vector<float> low(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)), high = low;
  std::vector<std::uint32_t> bad(count);
  for (std::size_t row = 0; row < values.size(); row += count) {
    const auto* value = values.data() + row;
    for (std::size_t channel = 0; channel < count; ++channel) {
      const float x = value[channel];
      low[channel] = x < low[channel] ? x : low[channel];
      high[channel] = x > high[channel] ? x : high[channel];
      bad[channel] |= (bits_of(x) & kExponent) == kExponent ? 1U : 0U;
    }
  }
  if (std::any_of(bad.begin(), bad.end(), [](auto channel) { return channel != 0; })) finite = false;
  for (std::size_t channel = 0; channel < count; ++channel) channels[channel] = {low[channel], high[channel]};
}

namespace {

/// So many values stay in the nearest cache while all brackets are held against them.
constexpr std::size_t kBlock = 2048;

/// Adds to `within` for each value whether it is strictly within the bracket.
inline __attribute__((always_inline)) void hold_against(const float* value, std::size_t count, Bracket& bracket,
                                                        std::int32_t* within) {
  const float low = bracket.low, high = bracket.high;
  std::int32_t up_to_low = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = value[i];
    up_to_low += x <= low ? 1 : 0;
    within[i] |= (x > low ? 1 : 0) & (x < high ? 1 : 0);
  }
  bracket.up_to_low += static_cast<std::size_t>(up_to_low);
}

}  // namespace

PARETOPIPE_CLONES std::size_t select(std::span<const float> values, std::span<Bracket> brackets, float* selected) {
  std::array<std::int32_t, kBlock> within;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const auto* value = values.data() + begin;
    const auto in_block = std::min(kBlock, values.size() - begin);
    within.fill(0);
    for (auto& bracket : brackets) hold_against(value, in_block, bracket, within.data());
    // Written in any case and kept if it is within: a branch would often be guessed wrong.
    for (std::size_t i = 0; i < in_block; ++i) {
      selected[count] = value[i];
      count += static_cast<std::size_t>(within[i]);
    }
  }
  return count;
}

PARETOPIPE_CLONES std::size_t count_equal(std::span<const float> values, float to) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const auto* value = values.data() + begin;
    const auto in_block = std::min(kBlock, values.size() - begin);
    std::int32_t equal = 0;
    for (std::size_t i = 0; i < in_block; ++i) equal += value[i] == to ? 1 : 0;
    count += static_cast<std::size_t>(equal);
  }
  return count;
}

Levels levels_of(const Extremes& extremes, int levels) {
  const float step = (extremes.max - extremes.min) / static_cast<float>(levels - 1);
  return {extremes.min, step > 0 && std::isfinite(1 / step) ? step : 0};
}

PARETOPIPE_CLONES void quantise(std::span<const float> values, const Levels& levels, int count, std::uint8_t* codes) {
  const float min = levels.min, step = divisor_of(levels);
  const auto* value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    codes[i] = static_cast<std::uint8_t>(std::min(rounded((value[i] - min) / step), count - 1));
  }
}

PARETOPIPE_CLONES void quantise_rows(std::span<const float> values, std::span<const Levels> channels, int count,
                                     std::uint8_t* codes) {
  std::vector<float> mins, steps;
  for (const auto& levels : channels) {
    mins.push_back(levels.min);
    steps.push_back(divisor_of(levels));
  }
  const auto *min = mins.data(), *step = steps.data();
  for (std::size_t row = 0; row < values.size(); row += channels.size()) {
    const auto* value = values.data() + row;
    auto* code = codes + row;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      code[i] = static_cast<std::uint8_t>(std::min(rounded((value[i] - min[i]) / step[i]), count - 1));
    }
  }
}

PARETOPIPE_CLONES void restore(const std::uint8_t* codes, const Levels& levels, std::span<float> values) {
  const float min = levels.min, step = levels.step;
  auto* value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) value[i] = min + static_cast<float>(codes[i]) * step;
}

PARETOPIPE_CLONES void restore_rows(const std::uint8_t* codes, std::span<const Levels> channels,
                                    std::span<float> values) {
  for (std::size_t row = 0; row < values.size(); row += channels.size()) {
    auto* value = values.data() + row;
    const auto* code = codes + row;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      value[i] = channels[i].min + static_cast<float>(code[i]) * channels[i].step;
    }
  }
}

namespace {

/// Group g's number, minimum and step come out of those of the group before by the bits that differ. A mask for each
/// border chooses rather than a branch, and costs less than a blend.
template <std::size_t kGroups, class Code>
inline __attribute__((always_inline)) void quantise_groups_of(std::span<const float> values,
                                                              std::span<const Levels> groups, int levels, Code* codes) {
  std::array<float, kGroups> borders{};
  std::array<std::uint32_t, kGroups> other_min{}, other_step{};
  for (std::size_t group = 1; group < kGroups; ++group) {
    const auto &own = groups[group], &before = groups[group - 1];
    borders[group] = own.min;
    other_min[group] = bits_of(own.min) ^ bits_of(before.min);
    other_step[group] = bits_of(divisor_of(own)) ^ bits_of(divisor_of(before));
  }
  const std::uint32_t first_min = bits_of(groups[0].min), first_step = bits_of(divisor_of(groups[0]));
  const auto* value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float x = value[i];
    std::uint32_t min = first_min, step = first_step, number = 0;
    for (std::size_t group = 1; group < kGroups; ++group) {
      const std::uint32_t above = x >= borders[group] ? ~0U : 0U;
      min ^= above & other_min[group];
      step ^= above & other_step[group];
      number -= above;
    }
    const auto within = rounded((x - std::bit_cast<float>(min)) / std::bit_cast<float>(step));
    codes[i] = static_cast<Code>(static_cast<int>(number) * levels + std::min(within, levels - 1));
  }
}

}  // namespace

PARETOPIPE_CLONES void quantise_groups(std::span<const float> values, std::span<const Levels> groups, int levels,
                                       std::uint16_t* codes) {
  if (groups.size() == 16) {
    quantise_groups_of<16>(values, groups, levels, codes);
  } else {
    quantise_groups_of<8>(values, groups, levels, codes);
  }
}

PARETOPIPE_CLONES void quantise_groups(std::span<const float> values, std::span<const Levels> groups, int levels,
                                       std::uint8_t* codes) {
  if (groups.size() == 4) {
    quantise_groups_of<4>(values, groups, levels, codes);
  } else {
    quantise_groups_of<2>(values, groups, levels, codes);
  }
}

PARETOPIPE_CLONES void restore(const std::uint8_t* codes, std::span<const float> table, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = table[codes[i]];
}

PARETOPIPE_CLONES void restore(const std::uint16_t* codes, std::span<const float> table, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = table[codes[i]];
}

PARETOPIPE_CLONES void pack4(std::span<const std::uint8_t> codes, std::uint8_t* packed) {
  const auto pairs = codes.size() / 2;
  const auto* code = codes.data();
  for (std::size_t i = 0; i < pairs; ++i) {
    packed[i] = static_cast<std::uint8_t>(code[2 * i] | (code[2 * i + 1] << 4));
  }
  if (codes.size() % 2 == 1) packed[pairs] = codes.back();
}

PARETOPIPE_CLONES void unpack4(const std::uint8_t* packed, std::span<std::uint8_t> codes) {
  const auto pairs = codes.size() / 2;
  auto* code = codes.data();
  for (std::size_t i = 0; i < pairs; ++i) {
    code[2 * i] = packed[i] & 15U;
    code[2 * i + 1] = static_cast<std::uint8_t>(packed[i] >> 4);
  }
  if (codes.size() % 2 == 1) codes.back() = packed[pairs] & 15U;
}

PARETOPIPE_CLONES void pack12(std::span<const std::uint16_t> codes, std::uint8_t* packed) {
  const auto pairs = codes.size() / 2;
  const auto* code = codes.data();
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::uint32_t both = code[2 * i] | (std::uint32_t{code[2 * i + 1]} << 12);
    packed[3 * i] = static_cast<std::uint8_t>(both);
    packed[3 * i + 1] = static_cast<std::uint8_t>(both >> 8);
    packed[3 * i + 2] = static_cast<std::uint8_t>(both >> 16);
  }
  if (codes.size() % 2 == 0) return;
  packed[3 * pairs] = static_cast<std::uint8_t>(codes.back());
  packed[3 * pairs + 1] = static_cast<std::uint8_t>(codes.back() >> 8);
}

PARETOPIPE_CLONES void unpack12(const std::uint8_t* packed, std::span<std::uint16_t> codes) {
  const auto pairs = codes.size() / 2;
  auto* code = codes.data();
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::uint32_t both =
        packed[3 * i] | (std::uint32_t{packed[3 * i + 1]} << 8) | (std::uint32_t{packed[3 * i + 2]} << 16);
    code[2 * i] = static_cast<std::uint16_t>(both & 0xfff);
    code[2 * i + 1] = static_cast<std::uint16_t>(both >> 12);
  }
  if (codes.size() % 2 == 0) return;
  codes.back() = static_cast<std::uint16_t>(packed[3 * pairs] | ((packed[3 * pairs + 1] & 15U) << 8));
}

// Half precision by integers and one float addition, after Fabian Giesen's float_to_half_fast3_rtne (public domain):
// faster than a library's loop, and the same on every CPU.

PARETOPIPE_CLONES void to_float16(std::span<const float> values, std::uint16_t* codes, bool& fits) {
  constexpr std::uint32_t kLeastNormal = 113U << 23, kBeyond = 0x477ff000;  // 2^-14, and what rounds to 2^16
  constexpr std::uint32_t kMagic = 126U << 23;
  std::uint32_t bad = 0;
  const auto* value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = bits_of(value[i]);
    const auto magnitude = bits & 0x7fffffff;
    const auto normal = (magnitude - (112U << 23) + 0xfff + ((magnitude >> 13) & 1U)) >> 13;
    const auto subnormal = bits_of(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic)) - kMagic;
    const auto half = magnitude < kLeastNormal ? subnormal : normal;
    codes[i] = static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000U));
    bad |= magnitude >= kBeyond ? 1U : 0U;
  }
  if (bad != 0) fits = false;
}

PARETOPIPE_CLONES void from_float16(const std::uint16_t* codes, std::span<float> values) {
  constexpr std::uint32_t kLeastNormal = 113U << 23;
  auto* value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t half = codes[i];
    const auto shifted = ((half & 0x7fffU) << 13) + (112U << 23);
    const auto subnormal = bits_of(std::bit_cast<float>(shifted + (1U << 23)) - std::bit_cast<float>(kLeastNormal));
    const auto magnitude = (half & 0x7c00U) == 0 ? subnormal : shifted;
    value[i] = std::bit_cast<float>(magnitude | ((half & 0x8000U) << 16));
  }
}

PARETOPIPE_CLONES void to_bfloat16(std::span<const float> values, std::uint16_t* codes, bool& fits) {
  std::uint32_t bad = 0;
  const auto* value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = bits_of(value[i]);
    const auto rounded = bits + 0x7fff + ((bits >> 16) & 1U);
    codes[i] = static_cast<std::uint16_t>(rounded >> 16);
    bad |= (bits & kExponent) == kExponent || (rounded & kExponent) == kExponent ? 1U : 0U;
  }
  if (bad != 0) fits = false;
}

PARETOPIPE_CLONES void from_bfloat16(const std::uint16_t* codes, std::span<float> values) {
  auto* value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) value[i] = std::bit_cast<float>(std::uint32_t{codes[i]} << 16);
}

PARETOPIPE_CLONES void shuffle(std::span<const std::byte> bytes, std::size_t width, std::byte* shuffled) {
  const auto count = bytes.size() / width;
  const auto* from = bytes.data();
  for (std::size_t byte = 0; byte < width; ++byte) {
    for (std::size_t i = 0; i < count; ++i) shuffled[byte * count + i] = from[i * width + byte];
  }
}

PARETOPIPE_CLONES void unshuffle(std::span<const std::byte> shuffled, std::size_t width, std::byte* bytes) {
  const auto count = shuffled.size() / width;
  const auto* from = shuffled.data();
  for (std::size_t byte = 0; byte < width; ++byte) {
    for (std::size_t i = 0; i < count; ++i) bytes[i * width + byte] = from[byte * count + i];
  }
}

}  // namespace paretopipe::codec
