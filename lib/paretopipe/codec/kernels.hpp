#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

// Internal: the loops over values, compiled for what the CPU has. Each takes time in proportion to the memory that it
// reads and writes.
namespace paretopipe::codec {

/// The levels of some values: code c stands for min + c · step.
struct Levels {
  float min = 0;
  float step = 0;
};

struct Extremes {
  float min = 0;
  float max = 0;
};

/// Extremes of consecutive values. Sets `finite` to false if one is NaN or infinite; the extremes then mean nothing.
Extremes extremes_of(std::span<const float> values, bool& finite);

/// Extremes of each channel, where every row has one value of each. `finite` as above.
void extremes_of_rows(std::span<const float> values, std::span<Extremes> channels, bool& finite);

/// `levels` levels from min to max: step = (max − min) / (levels − 1), or 0 if that is too small to divide by.
Levels levels_of(const Extremes& extremes, int levels);

inline std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// The step, or 1 for values that are all equal, which have no step to divide by.
inline float divisor_of(const Levels& levels) {
  return levels.step > 0 ? levels.step : 1;
}

/// The last place of a sum with this number is a unit.
inline constexpr float kUnits = 0x1.8p23F;

/// Rounds a number below 2^22 to the nearest integer, and halves to the even one, as the addition does. This needs no
/// instruction for rounding, which not every CPU has.
inline int rounded(float number) {
  return static_cast<int>(bits_of(number + kUnits) - bits_of(kUnits));
}

/// code = (value − min) / step, rounded to the nearest integer and halves to the even one; 0 if the step is 0. Codes
/// are below `count`.
void quantise(std::span<const float> values, const Levels& levels, int count, std::uint8_t* codes);
void quantise_rows(std::span<const float> values, std::span<const Levels> channels, int count, std::uint8_t* codes);
void restore(const std::uint8_t* codes, const Levels& levels, std::span<float> values);
void restore_rows(const std::uint8_t* codes, std::span<const Levels> channels, std::span<float> values);

/// Looks the codes up in `table`.
void restore(const std::uint8_t* codes, std::span<const float> table, std::span<float> values);
void restore(const std::uint16_t* codes, std::span<const float> table, std::span<float> values);

/// Packs two codes of 4 bits into a byte, the first in the lower half, or two codes of 12 bits into three bytes; and
/// back.
void pack4(std::span<const std::uint8_t> codes, std::uint8_t* packed);
void unpack4(const std::uint8_t* packed, std::span<std::uint8_t> codes);
void pack12(std::span<const std::uint16_t> codes, std::uint8_t* packed);
void unpack12(const std::uint8_t* packed, std::span<std::uint16_t> codes);

/// Rounds to nearest even. Sets `fits` to false if a value is NaN or infinite, or becomes so.
void to_float16(std::span<const float> values, std::uint16_t* codes, bool& fits);
void from_float16(const std::uint16_t* codes, std::span<float> values);
void to_bfloat16(std::span<const float> values, std::uint16_t* codes, bool& fits);
void from_bfloat16(const std::uint16_t* codes, std::span<float> values);

/// All first bytes of elements of `width` bytes, then all second ones, and so on; and back.
void shuffle(std::span<const std::byte> bytes, std::size_t width, std::byte* shuffled);
void unshuffle(std::span<const std::byte> shuffled, std::size_t width, std::byte* bytes);

}  // namespace paretopipe::codec
