#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "kernels.hpp"

// Internal: the loops of sort quantisation over all values of a tensor.
namespace paretopipe::codec {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The values strictly between `low` and `high`, which are values themselves or infinities. `up_to_low` is how many
/// values are at most `low`.
struct Bracket {
  float low = 0;
  float high = 0;
  std::size_t up_to_low = 0;
};

/// How many values select() writes beyond those that it keeps.
inline constexpr std::size_t kBeyondSelected = 8;

struct Seen {
  Extremes extremes{kInfinity, -kInfinity};
  bool finite = true;  ///< if a value is NaN or infinite, the extremes mean nothing
};

/// Adds to each bracket's `up_to_low`, and copies every value that is strictly within a bracket to `selected`, in
/// order. `selected` has room for all values and kBeyondSelected more, or is where the values are. Returns how many
/// were copied. `seen`, if given, is extended by these values.
std::size_t select(std::span<const float> values, std::span<Bracket> brackets, float* selected, Seen* seen = nullptr);

/// How many values are equal to `to`.
std::size_t count_equal(std::span<const float> values, float to);

/// How many values are less than `limit`.
std::size_t count_below(std::span<const float> values, float limit);

/// A value's code is group · levels + its code within the group. Groups are in ascending order, and a value is in the
/// last one whose minimum is at most the value. Wide codes are of 8 or 16 groups, others of 2 or 4.
void quantise_groups(std::span<const float> values, std::span<const Levels> groups, int levels, std::uint16_t* codes);
void quantise_groups(std::span<const float> values, std::span<const Levels> groups, int levels, std::uint8_t* codes);

}  // namespace paretopipe::codec
