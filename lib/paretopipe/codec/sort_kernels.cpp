#include "sort_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "this_cpu.hpp"

namespace paretopipe::codec {

namespace {

/// This many values stay in the nearest cache while all brackets are held against them.
constexpr std::size_t kBlock = 2048;
using Within = std::array<std::int32_t, kBlock>;  ///< 1 if the value is within any bracket

/// Compares the values with several brackets at a time, so that they are read once for all of these.
template <std::size_t kBrackets>
inline __attribute__((always_inline)) void hold_against(const float* value, std::size_t count, Bracket* brackets,
                                                        Within& within) {
  std::array<std::int32_t, kBrackets> up_to_low{};
  for (std::size_t i = 0; i < count; ++i) {
    const float x = value[i];
    std::int32_t in_any = within[i];
    for (std::size_t b = 0; b < kBrackets; ++b) {
      up_to_low[b] += x <= brackets[b].low ? 1 : 0;
      in_any |= (x > brackets[b].low ? 1 : 0) & (x < brackets[b].high ? 1 : 0);
    }
    within[i] = in_any;
  }
  for (std::size_t b = 0; b < kBrackets; ++b) brackets[b].up_to_low += static_cast<std::size_t>(up_to_low[b]);
}

/// Counts in sums of 32 bits, of which a register has eight.
template <class Is>
inline __attribute__((always_inline)) std::size_t count_if(std::span<const float> values, Is is) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const auto* value = values.data() + begin;
    const auto in_block = std::min(kBlock, values.size() - begin);
    std::int32_t counted = 0;
    for (std::size_t i = 0; i < in_block; ++i) counted += is(value[i]) ? 1 : 0;
    count += static_cast<std::size_t>(counted);
  }
  return count;
}

void hold_all_against(std::span<const float> values, std::span<Bracket> brackets, Within& within) {
  std::fill_n(within.begin(), values.size(), 0);
  std::size_t b = 0;
  for (; b + 3 <= brackets.size(); b += 3) hold_against<3>(values.data(), values.size(), &brackets[b], within);
  for (; b < brackets.size(); ++b) hold_against<1>(values.data(), values.size(), &brackets[b], within);
}

std::size_t keep_one_by_one(std::span<const float> values, const std::int32_t* within, float* kept) {
  std::size_t count = 0;
  // A value is written in any case, and kept if it is within: a branch would often be guessed wrong.
  for (std::size_t i = 0; i < values.size(); ++i) {
    kept[count] = values[i];
    count += static_cast<std::size_t>(within[i]);
  }
  return count;
}

Seen look_at(std::span<const float> values) {
  Seen seen;
  seen.extremes = extremes_of(values, seen.finite);
  return seen;
}

void add(const Seen& part, Seen& all) {
  all.extremes = {std::min(all.extremes.min, part.extremes.min), std::max(all.extremes.max, part.extremes.max)};
  all.finite = all.finite && part.finite;
}

std::size_t select_anywhere(std::span<const float> values, std::span<Bracket> brackets, float* selected, Seen* seen) {
  Within within;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const auto block = values.subspan(begin, std::min(kBlock, values.size() - begin));
    if (seen != nullptr) add(look_at(block), *seen);
    hold_all_against(block, brackets, within);
    count += keep_one_by_one(block, within.data(), selected + count);
  }
  return count;
}

#ifdef PARETOPIPE_AVX2

bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}

/// For each set of places among eight: the places in it, in order, one a byte.
constexpr std::array<std::uint64_t, 256> places_of_sets() {
  std::array<std::uint64_t, 256> places{};
  for (std::uint64_t set = 0; set < places.size(); ++set) {
    unsigned count = 0;
    for (std::uint64_t place = 0; place < 8; ++place) {
      if ((set >> place & 1U) != 0) places[set] |= place << (8 * count++);
    }
  }
  return places;
}
constexpr auto kPlaces = places_of_sets();

PARETOPIPE_AVX2 inline std::size_t sum_of(__m256i lanes) {
  alignas(32) std::array<std::int32_t, 8> all;
  _mm256_store_si256(reinterpret_cast<__m256i*>(all.data()), lanes);
  std::size_t sum = 0;
  for (const auto lane : all) sum += static_cast<std::size_t>(lane);
  return sum;
}

/// For brackets that others follow: remembers which of eight values are within one.
struct Remember {
  std::uint8_t* set_of_eight;

  PARETOPIPE_AVX2 void operator()(__m256, unsigned set) { *set_of_eight++ |= static_cast<std::uint8_t>(set); }
};

/// Keeps the values that are within any bracket, moved together by a permutation.
struct Keep {
  float* kept;

  PARETOPIPE_AVX2 void operator()(__m256 x, unsigned set) {
    const auto places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(kPlaces[set])));
    _mm256_storeu_ps(kept, _mm256_permutevar8x32_ps(x, places));
    kept += std::popcount(set);
  }
};

/// Keeps likewise, and takes in the extremes of all values and whether one is NaN.
struct LookAndKeep {
  PARETOPIPE_AVX2 explicit LookAndKeep(float* kept)
      : keep{kept}, min(_mm256_set1_ps(kInfinity)), max(_mm256_set1_ps(-kInfinity)), nan(_mm256_setzero_ps()) {}

  PARETOPIPE_AVX2 void operator()(__m256 x, unsigned set) {
    min = _mm256_min_ps(x, min);
    max = _mm256_max_ps(x, max);
    nan = _mm256_or_ps(nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    keep(x, set);
  }

  Keep keep;
  __m256 min, max, nan;
};

/// For the last of many brackets: adds what was remembered to the set.
template <class Then>
struct WithRemembered {
  const std::uint8_t* set_of_eight;
  Then then;

  PARETOPIPE_AVX2 void operator()(__m256 x, unsigned set) { then(x, set | *set_of_eight++); }
};

/// hold_against() for a multiple of eight values. Hands each eight on with the set of those that are within a bracket.
template <std::size_t kBrackets, class Then>
PARETOPIPE_AVX2 Then hold_by_eight(std::span<const float> values, Bracket* brackets, Then then) {
  __m256 low[kBrackets], high[kBrackets];
  __m256i up_to_low[kBrackets];
  for (std::size_t b = 0; b < kBrackets; ++b) {
    low[b] = _mm256_set1_ps(brackets[b].low);
    high[b] = _mm256_set1_ps(brackets[b].high);
    up_to_low[b] = _mm256_setzero_si256();
  }
  const float* const end = values.data() + values.size();
  for (const float* eight = values.data(); eight < end; eight += 8) {
    const auto x = _mm256_loadu_ps(eight);
    auto in_any = _mm256_setzero_ps();
    for (std::size_t b = 0; b < kBrackets; ++b) {
      const auto at_most_low = _mm256_cmp_ps(x, low[b], _CMP_LE_OQ);
      up_to_low[b] = _mm256_sub_epi32(up_to_low[b], _mm256_castps_si256(at_most_low));
      in_any = _mm256_or_ps(in_any, _mm256_andnot_ps(at_most_low, _mm256_cmp_ps(x, high[b], _CMP_LT_OQ)));
    }
    then(x, static_cast<unsigned>(_mm256_movemask_ps(in_any)));
  }
  for (std::size_t b = 0; b < kBrackets; ++b) brackets[b].up_to_low += sum_of(up_to_low[b]);
  return then;
}

template <class Then>
PARETOPIPE_AVX2 Then select_in_block(std::span<const float> block, std::span<Bracket> brackets, Then then) {
  if (brackets.size() == 1) return hold_by_eight<1>(block, brackets.data(), then);
  if (brackets.size() == 3) return hold_by_eight<3>(block, brackets.data(), then);
  std::array<std::uint8_t, kBlock / 8> sets{};
  const Remember remember{sets.data()};
  for (; brackets.size() > 3; brackets = brackets.subspan(3)) hold_by_eight<3>(block, brackets.data(), remember);
  for (; brackets.size() > 1; brackets = brackets.subspan(1)) hold_by_eight<1>(block, brackets.data(), remember);
  return hold_by_eight<1>(block, brackets.data(), WithRemembered<Then>{sets.data(), then}).then;
}

/// select() for a multiple of eight values.
template <class Then>
PARETOPIPE_AVX2 Then select_by_eight(std::span<const float> values, std::span<Bracket> brackets, Then then) {
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    then = select_in_block(values.subspan(begin, std::min(kBlock, values.size() - begin)), brackets, then);
  }
  return then;
}

PARETOPIPE_AVX2 Seen seen_by(const LookAndKeep& look) {
  alignas(32) std::array<float, 8> min, max;
  _mm256_store_ps(min.data(), look.min);
  _mm256_store_ps(max.data(), look.max);
  const Extremes all{*std::min_element(min.begin(), min.end()), *std::max_element(max.begin(), max.end())};
  return {all, _mm256_movemask_ps(look.nan) == 0 && std::isfinite(all.min) && std::isfinite(all.max)};
}

PARETOPIPE_AVX2 std::size_t select_all_by_eight(std::span<const float> values, std::span<Bracket> brackets,
                                                float* selected, Seen* seen) {
  const auto eights = values.first(values.size() / 8 * 8);
  float* kept = selected;
  if (seen == nullptr) {
    kept = select_by_eight(eights, brackets, Keep{selected}).kept;
  } else {
    const auto look = select_by_eight(eights, brackets, LookAndKeep(selected));
    kept = look.keep.kept;
    add(seen_by(look), *seen);
  }
  return static_cast<std::size_t>(kept - selected) +
         select_anywhere(values.subspan(eights.size()), brackets, kept, seen);
}

#endif

}  // namespace

std::size_t select(std::span<const float> values, std::span<Bracket> brackets, float* selected, Seen* seen) {
#ifdef PARETOPIPE_AVX2
  if (has_avx2()) return select_all_by_eight(values, brackets, selected, seen);
#endif
  return select_anywhere(values, brackets, selected, seen);
}

PARETOPIPE_CLONES std::size_t count_equal(std::span<const float> values, float to) {
  return count_if(values, [to](float value) { return value == to; });
}

PARETOPIPE_CLONES std::size_t count_below(std::span<const float> values, float limit) {
  return count_if(values, [limit](float value) { return value < limit; });
}

namespace {

/// The minima and divisors of all groups. Every minimum but the first is a border between groups.
template <std::size_t kGroups>
struct Groups {
  explicit Groups(std::span<const Levels> groups) {
    for (std::size_t group = 0; group < kGroups; ++group) {
      min[group] = groups[group].min;
      step[group] = divisor_of(groups[group]);
    }
  }

  std::array<float, kGroups> min;
  std::array<float, kGroups> step;
};

/// Every border that a value has reached adds 1 to its group's number, and flips the bits in which the minimum and step
/// differ from those of the group before. A mask chooses rather than a branch, and costs less than a blend.
template <std::size_t kGroups, class Code>
inline __attribute__((always_inline)) void quantise_by_masks(std::span<const float> values,
                                                             const Groups<kGroups>& groups, int levels, Code* codes) {
  std::array<std::uint32_t, kGroups> other_min{}, other_step{};
  for (std::size_t group = 1; group < kGroups; ++group) {
    other_min[group] = bits_of(groups.min[group]) ^ bits_of(groups.min[group - 1]);
    other_step[group] = bits_of(groups.step[group]) ^ bits_of(groups.step[group - 1]);
  }
  const std::uint32_t first_min = bits_of(groups.min[0]), first_step = bits_of(groups.step[0]);
  const auto* value = values.data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float x = value[i];
    std::uint32_t min = first_min, step = first_step, number = 0;
    for (std::size_t group = 1; group < kGroups; ++group) {
      const std::uint32_t above = x >= groups.min[group] ? ~0U : 0U;
      min ^= above & other_min[group];
      step ^= above & other_step[group];
      number -= above;
    }
    const auto within = rounded((x - std::bit_cast<float>(min)) / std::bit_cast<float>(step));
    codes[i] = static_cast<Code>(static_cast<int>(number) * levels + std::min(within, levels - 1));
  }
}

#ifdef PARETOPIPE_AVX2

/// One number of each group. It is looked up, eight at a time, by minus the group's number, which is the sum of the
/// comparisons with the borders.
template <std::size_t kGroups>
struct Lookup {
  PARETOPIPE_AVX2 explicit Lookup(const std::array<float, kGroups>& of) {
    alignas(32) std::array<float, 16> all{};
    for (std::size_t place = 0; place < all.size(); ++place) all[place] = of[(all.size() - place) % kGroups];
    low = _mm256_load_ps(all.data());
    high = _mm256_load_ps(all.data() + 8);
  }

  PARETOPIPE_AVX2 __m256 operator()(__m256i minus_number) const {
    if constexpr (kGroups <= 4) return _mm256_permutevar_ps(low, minus_number);  // within each half, which is faster
    const auto found = _mm256_permutevar8x32_ps(low, minus_number);
    if constexpr (kGroups <= 8) return found;
    const auto beyond_7 = _mm256_castsi256_ps(_mm256_slli_epi32(minus_number, 28));
    return _mm256_blendv_ps(found, _mm256_permutevar8x32_ps(high, minus_number), beyond_7);
  }

  __m256 low, high;
};

/// quantise_by_masks() for eight values. One addition rounds and adds a group's first code. Halves still go to the even
/// code, because a group's first code is even.
template <std::size_t kGroups>
struct ByLookup {
  PARETOPIPE_AVX2 ByLookup(const Groups<kGroups>& groups, int levels)
      : min(groups.min), step(groups.step), units(units_of(levels)) {
    for (std::size_t group = 1; group < kGroups; ++group) border[group] = _mm256_set1_ps(groups.min[group]);
    last = _mm256_set1_ps(static_cast<float>(levels - 1));
  }

  PARETOPIPE_AVX2 __m256i operator()(const float* value) const {
    const auto x = _mm256_loadu_ps(value);
    auto minus_number = _mm256_setzero_si256();
    for (std::size_t group = 1; group < kGroups; ++group) {
      minus_number = _mm256_add_epi32(minus_number, _mm256_castps_si256(_mm256_cmp_ps(x, border[group], _CMP_GE_OQ)));
    }
    const auto steps = _mm256_div_ps(_mm256_sub_ps(x, min(minus_number)), step(minus_number));
    const auto sum = _mm256_add_ps(_mm256_min_ps(steps, last), units(minus_number));
    return _mm256_sub_epi32(_mm256_castps_si256(sum), _mm256_castps_si256(_mm256_set1_ps(kUnits)));
  }

  static std::array<float, kGroups> units_of(int levels) {
    std::array<float, kGroups> units;
    for (std::size_t group = 0; group < kGroups; ++group)
      units[group] = kUnits + static_cast<float>(static_cast<int>(group) * levels);
    return units;
  }

  Lookup<kGroups> min, step, units;
  __m256 border[kGroups];  // not std::array, whose argument would lose its alignment
  __m256 last;
};

/// Stores 32 codes. Packing leaves them in an order of its own, which is undone.
template <std::size_t kGroups>
PARETOPIPE_AVX2 void quantise_32(const ByLookup<kGroups>& codes_of, const float* value, std::uint8_t* codes) {
  const auto first = _mm256_packus_epi32(codes_of(value), codes_of(value + 8));
  const auto second = _mm256_packus_epi32(codes_of(value + 16), codes_of(value + 24));
  const auto order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const auto packed = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(first, second), order);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes), packed);
}

template <std::size_t kGroups>
PARETOPIPE_AVX2 void quantise_32(const ByLookup<kGroups>& codes_of, const float* value, std::uint16_t* codes) {
  for (int half = 0; half < 32; half += 16) {
    const auto packed = _mm256_packus_epi32(codes_of(value + half), codes_of(value + half + 8));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + half), _mm256_permute4x64_epi64(packed, 0xd8));
  }
}

template <std::size_t kGroups, class Code>
PARETOPIPE_AVX2 void quantise_by_lookup(std::span<const float> values, const Groups<kGroups>& groups, int levels,
                                        Code* codes) {
  const ByLookup<kGroups> codes_of(groups, levels);
  std::size_t i = 0;
  for (; i + 32 <= values.size(); i += 32) quantise_32(codes_of, values.data() + i, codes + i);
  quantise_by_masks(values.subspan(i), groups, levels, codes + i);
}

#endif

template <std::size_t kGroups, class Code>
void quantise_groups_of(std::span<const float> values, std::span<const Levels> levels_of, int levels, Code* codes) {
  const Groups<kGroups> groups(levels_of);
#ifdef PARETOPIPE_AVX2
  if (has_avx2()) return quantise_by_lookup(values, groups, levels, codes);
#endif
  quantise_by_masks(values, groups, levels, codes);
}

}  // namespace

void quantise_groups(std::span<const float> values, std::span<const Levels> groups, int levels, std::uint16_t* codes) {
  if (groups.size() == 16) return quantise_groups_of<16>(values, groups, levels, codes);
  quantise_groups_of<8>(values, groups, levels, codes);
}

void quantise_groups(std::span<const float> values, std::span<const Levels> groups, int levels, std::uint8_t* codes) {
  if (groups.size() == 4) return quantise_groups_of<4>(values, groups, levels, codes);
  quantise_groups_of<2>(values, groups, levels, codes);
}

}  // namespace paretopipe::codec
