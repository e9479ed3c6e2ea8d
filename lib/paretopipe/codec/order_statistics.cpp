#include "order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "sort_kernels.hpp"

namespace paretopipe::codec {

namespace {

/// No sample is taken of so few values.
constexpr std::size_t kFew = 4096;
/// A sample of n values has this many times n^(2/3): a larger one takes longer to search, and leaves less to select.
constexpr double kSampled = 0.5;
/// How far a bracket reaches to either side, in standard deviations of a sample's rank.
constexpr double kWidth = 3;

/// Values at positions that are the same every time and follow no pattern of the tensor's.
std::vector<float> sample_of(std::span<const float> values) {
  const double root = std::cbrt(static_cast<double>(values.size()));
  std::vector<float> sample(static_cast<std::size_t>(kSampled * root * root));
  std::uint64_t state = 1;
  for (auto& value : sample) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth, TAOCP 2, 3.3.4
    value = values[static_cast<std::size_t>(state >> 32) * values.size() >> 32];
  }
  return sample;
}

/// The places where a bracket begins and ends in a sorted sample. An end that is absent lies beyond the sample.
struct Ends {
  std::optional<std::size_t> low;
  std::optional<std::size_t> high;
};

Ends ends_of(std::size_t sample, double quantile) {
  const auto count = static_cast<double>(sample);
  const auto place = quantile * count, width = kWidth * std::sqrt(count * quantile * (1 - quantile)) + 1;
  const auto at = [&](double rank) {
    return rank >= 0 && rank < count ? std::optional(static_cast<std::size_t>(rank)) : std::nullopt;
  };
  return {at(place - width), at(place + width)};
}

/// The value that a sort would put at this place. Narrows `all` down to the values among which it still may be.
float value_at(std::span<const float> all, std::size_t place) {
  std::vector<float> copy(all.begin(), all.end());
  std::span<float> values(copy);
  constexpr std::size_t kFewToPlace = 32;
  constexpr int kMostRounds = 48;  // then std::nth_element takes over, whose worst case is bounded
  for (int round = 0; values.size() > kFewToPlace && round < kMostRounds; ++round) {
    const float a = values.front(), b = values[values.size() / 2], c = values.back();
    Bracket side{std::max(std::min(a, b), std::min(std::max(a, b), c)), kInfinity};
    const auto below = count_below(values, side.low);
    if (place < below) {
      side = {-kInfinity, side.low};
    } else {
      const auto up_to = below + count_equal(values, side.low);
      if (place < up_to) return side.low;
      place -= up_to;
    }
    values = values.first(select(values, {&side, 1}, values.data()));
  }
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

std::vector<Bracket> brackets_of(std::span<const float> sample, std::span<const double> quantiles) {
  std::vector<Bracket> brackets;
  for (const auto quantile : quantiles) {
    const auto [low, high] = ends_of(sample.size(), quantile);
    brackets.push_back({low ? value_at(sample, *low) : -kInfinity, high ? value_at(sample, *high) : kInfinity});
  }
  return brackets;
}

std::vector<float> values_at(std::span<const float> values, std::span<const std::size_t> ranks) {
  std::vector<float> found;
  for (const auto rank : ranks) found.push_back(value_at(values, rank));
  return found;
}

/// Counts the values that are equal to one at which a bracket begins or ends. Remembers the last count, because
/// neighbouring brackets often have the same end: half of what leaves a ReLU is 0.
class EqualTo {
 public:
  explicit EqualTo(std::span<const float> values) : values_(values) {}

  std::size_t operator()(float value) {
    if (counted_ != value) count_ = count_equal(values_, value);
    counted_ = value;
    return count_;
  }

 private:
  std::span<const float> values_;
  float counted_ = std::numeric_limits<float>::quiet_NaN();  ///< none yet
  std::size_t count_ = 0;
};

/// Uninitialised memory: part of a shared room if enough of that is left, and otherwise its own.
struct Place {
  float* values = nullptr;
  std::unique_ptr<float[]> own{};
};

/// Takes memory for so many values, and for what select() writes beyond them, from the beginning of the room.
Place take(std::span<float>& room, std::size_t values) {
  const auto needed = values + kBeyondSelected;
  if (needed <= room.size()) {
    auto* begin = room.data();
    room = room.subspan(needed);
    return {begin};
  }
  auto own = std::make_unique_for_overwrite<float[]>(needed);
  auto* begin = own.get();
  return {begin, std::move(own)};
}

/// Finds the values at `ranks` by brackets that `sample` gives. With `seen`, values may be NaN or infinite; then
/// nothing is found.
std::vector<float> statistics_by(std::span<const float> sample, std::span<const float> values,
                                 std::span<const std::size_t> ranks, std::span<float> room, Seen* seen = nullptr);

/// Finds the values at ranks that lie in one bracket, or next to it.
class RanksInBracket {
 public:
  /// `least` is at most the least value.
  RanksInBracket(std::span<const float> values, float least) : values_(values), least_(least), equal_to_(values) {}

  /// `selected` holds all values within the bracket, and may hold others.
  std::vector<float> find(const Bracket& bracket, std::span<const std::size_t> ranks, std::span<const float> selected,
                          std::span<float> room) {
    const auto inside = take(room, selected.size());
    Bracket only = bracket;
    const std::span<const float> within(inside.values, select(selected, {&only, 1}, inside.values));
    std::vector<std::size_t> places;
    for (const auto rank : ranks) {
      if (rank >= bracket.up_to_low && rank - bracket.up_to_low < within.size()) {
        places.push_back(rank - bracket.up_to_low);
      }
    }
    const auto placed = statistics_within(within, places, room);
    std::vector<float> found;
    auto next = placed.begin();
    for (const auto rank : ranks) {
      if (rank < bracket.up_to_low) {
        found.push_back(is_low(bracket, rank) ? bracket.low : searched(rank));
      } else if (rank - bracket.up_to_low < within.size()) {
        found.push_back(*next++);
      } else {
        found.push_back(is_high(bracket, rank - within.size()) ? bracket.high : searched(rank));
      }
    }
    return found;
  }

 private:
  std::vector<float> statistics_within(std::span<const float> within, std::span<const std::size_t> places,
                                       std::span<float> room) const {
    if (places.empty()) return {};
    // If most values are left, a sample of them tells little, too.
    if (within.size() <= kFew || within.size() > values_.size() / 2) return values_at(within, places);
    return statistics_by(sample_of(within), within, places, room);
  }
  bool is_low(const Bracket& bracket, std::size_t rank) {
    return bracket.low == least_ || rank >= bracket.up_to_low - equal_to_(bracket.low);
  }
  /// If both ends are equal, such values were counted with the lower one.
  bool is_high(const Bracket& bracket, std::size_t rank) {
    return bracket.low < bracket.high && rank < bracket.up_to_low + equal_to_(bracket.high);
  }
  /// Searches all values for a rank that lies outside its bracket, which hardly happens.
  float searched(std::size_t rank) const { return value_at(values_, rank); }

  std::span<const float> values_;
  float least_;
  EqualTo equal_to_;
};

/// select() with fewer brackets. Leaves out a bracket that begins and ends where the next one begins, as at the zeros
/// of a ReLU: nothing lies within it, and its count is the next one's.
std::span<const float> select_all(std::span<const float> values, std::span<Bracket> brackets, float* selected,
                                  Seen* seen) {
  std::vector<Bracket> held;
  for (const auto& bracket : brackets) {
    if (!held.empty() && held.back().high == held.back().low && held.back().low == bracket.low) held.pop_back();
    held.push_back(bracket);
  }
  const auto count = select(values, held, selected, seen);
  auto counted = held.begin();
  for (auto& bracket : brackets) {
    while (counted->low != bracket.low) ++counted;
    bracket.up_to_low = counted->up_to_low;
  }
  return {selected, count};
}

/// The number of ranks that share the next bracket. Neighbouring ranks do.
std::size_t ranks_of_next_bracket(std::span<const std::size_t> ranks) {
  std::size_t count = 1;
  while (count < ranks.size() && ranks[count] <= ranks[count - 1] + 1) ++count;
  return count;
}

std::vector<float> statistics_by(std::span<const float> sample, std::span<const float> values,
                                 std::span<const std::size_t> ranks, std::span<float> room, Seen* seen) {
  std::vector<std::span<const std::size_t>> neighbours;
  std::vector<double> quantiles;
  for (auto rest = ranks; !rest.empty(); rest = rest.subspan(neighbours.back().size())) {
    neighbours.push_back(rest.first(ranks_of_next_bracket(rest)));
    quantiles.push_back(static_cast<double>(rest.front()) / static_cast<double>(values.size()));
  }
  auto brackets = brackets_of(sample, quantiles);
  const auto place = take(room, values.size());
  const auto selected = select_all(values, brackets, place.values, seen);
  std::vector<float> found;
  if (seen != nullptr && !seen->finite) return found;
  RanksInBracket in_brackets(values, seen != nullptr ? seen->extremes.min : -kInfinity);
  for (std::size_t i = 0; i < brackets.size(); ++i) {
    std::ranges::copy(in_brackets.find(brackets[i], neighbours[i], selected, room), std::back_inserter(found));
  }
  return found;
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

}  // namespace

OrderStatistics order_statistics(std::span<const float> values, std::span<const std::size_t> ranks, Scratch& scratch) {
  OrderStatistics result;
  auto& [seen, at_ranks] = result;
  if (values.size() <= kFew) {
    seen.extremes = extremes_of(values, seen.finite);
    if (seen.finite) at_ranks = values_at(values, ranks);
    return result;
  }
  const auto sample = sample_of(values);
  seen.finite = all_finite(sample);
  if (!seen.finite) return result;
  // There is room for what is selected, mostly little, and beside it for what is within a bracket.
  scratch.selected.resize(values.size() + values.size() / 4 + 4 * kBeyondSelected);
  at_ranks = statistics_by(sample, values, ranks, scratch.selected, &seen);
  return result;
}

}  // namespace paretopipe::codec
