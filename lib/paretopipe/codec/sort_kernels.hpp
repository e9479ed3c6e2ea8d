#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "kernels.hpp"

// Internal: the loops of sort quantisation over all values of a tensor.
namespace paretopipe::codec {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Two of the values, or what is beyond all, and how many are at most the lower one.
struct Bracket {
  float low = 0;
  float high = 0;
  std::size_t up_to_low = 0;
};

/// That select() writes beyond what it keeps.
inline constexpr std::size_t kBeyondSelected = 8;

struct Seen {
  Extremes extremes{kInfinity, -kInfinity};
  bool finite = true;  ///< if a value is NaN or infinite, the extremes mean nothing
};

/// Counts for each bracket, and copies every value that is strictly within one to `selected`, in their order, which has
/// room for all of them and kBeyondSelected more, or is where the values are. Returns how many these are. What was
/// `seen` before goes on with these values.
std::size_t select(std::span<const float> values, std::span<Bracket> brackets, float* selected, Seen* seen = nullptr);

/// How many values are equal to one.
std::size_t count_equal(std::span<const float> values, float to);

/// How many values are less than one.
std::size_t count_below(std::span<const float> values, float limit);

/// Groups in ascending order: a value is in the last one whose border is at most the value, and has the code group ·
/// levels + its code within the group. Borders are the minima of all groups. Wide codes are of 8 or 16 groups, others
/// of 2 or 4.
void quantise_groups(std::span<const float> values, std::span<const Levels> groups, int levels, std::uint16_t* codes);
void quantise_groups(std::span<const float> values, std::span<const Levels> groups, int levels, std::uint8_t* codes);

}  // namespace paretopipe::codec
