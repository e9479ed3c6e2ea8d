#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "this_cpu.hpp"

namespace paretopipe::codec {

namespace {

constexpr std::size_t kLanes = 32;  ///< independent partial results, so that a loop over them becomes vectors
constexpr std::uint32_t kExponent = 0x7f800000;

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

// Half precision by integers and one float addition, after Fabian Giesen's float_to_half_fast3_rtne (public domain). It
// is faster than a library's loop, and the same on every CPU. A mask chooses between two numbers, because a compiler
// would make branches of a condition and could not make vectors of the loop.

namespace {

inline std::uint32_t chosen(bool first, std::uint32_t one, std::uint32_t other) {
  const std::uint32_t mask = 0U - (first ? 1U : 0U);
  return (one & mask) | (other & ~mask);
}

}  // namespace

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
    const auto half = chosen(magnitude < kLeastNormal, subnormal, normal);
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
    const auto magnitude = chosen((half & 0x7c00U) == 0, subnormal, shifted);
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
