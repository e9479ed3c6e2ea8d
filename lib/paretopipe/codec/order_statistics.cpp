#include "order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels.hpp"

namespace paretopipe::codec {

namespace {

/// Fewer values are sorted.
constexpr std::size_t kFew = 4096;
constexpr std::size_t kSample = 8192;
/// Standard deviations of a sample's rank that a bracket allows for to either side.
constexpr double kWidth = 4;

/// Values at positions that follow no pattern of the tensor's, in the same order every time.
std::vector<float> sample_of(std::span<const float> values) {
  std::vector<float> sample(std::min(kSample, values.size() / 4));
  std::uint64_t state = 1;
  for (auto& value : sample) {
    state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth, TAOCP 2, 3.3.4
    value = values[static_cast<std::size_t>(state >> 32) * values.size() >> 32];
  }
  return sample;
}

/// Where a bracket begins and ends in a sorted sample of so many values.
struct Ends {
  std::size_t low;
  std::size_t high;
};

Ends ends_of(std::size_t sample, double quantile) {
  const auto count = static_cast<double>(sample);
  const auto place = quantile * count, width = kWidth * std::sqrt(count * quantile * (1 - quantile)) + 1;
  const auto at = [&](double rank) { return static_cast<std::size_t>(std::clamp(rank, 0.0, count - 1)); };
  return {at(place - width), at(place + width)};
}

/// Puts into these places of the sample what a sort would put there, and cares for no others.
void sort_places(std::vector<float>& sample, std::vector<std::size_t> places) {
  std::sort(places.begin(), places.end());
  auto rest = sample.begin();
  for (const auto place : places) {
    const auto found = sample.begin() + static_cast<std::ptrdiff_t>(place);
    if (found < rest) continue;  // placed already
    std::nth_element(rest, found, sample.end());
    rest = found + 1;
  }
}

std::vector<Bracket> brackets_of(std::span<const float> values, std::span<const double> quantiles) {
  auto sample = sample_of(values);
  std::vector<Ends> ends;
  std::vector<std::size_t> places;
  for (const auto quantile : quantiles) {
    ends.push_back(ends_of(sample.size(), quantile));
    places.insert(places.end(), {ends.back().low, ends.back().high});
  }
  sort_places(sample, std::move(places));
  std::vector<Bracket> brackets;
  for (const auto& [low, high] : ends) brackets.push_back({sample[low], sample[high]});
  return brackets;
}

/// The values strictly within a bracket, of which those before `placed` are where a sort would put them.
struct Within {
  std::vector<float> values;
  std::size_t placed = 0;
};

/// Takes them from what was selected for all brackets. Written in any case and kept if it is within: a branch would
/// often be guessed wrong.
void take(std::span<const float> selected, const Bracket& bracket, Within& within) {
  within.values.resize(selected.size() + 1);
  std::size_t count = 0;
  for (const float value : selected) {
    within.values[count] = value;
    count += static_cast<std::size_t>((value > bracket.low ? 1 : 0) & (value < bracket.high ? 1 : 0));
  }
  within.values.resize(count);
  within.placed = 0;
}

/// How many values are equal to one that brackets begin or end with. Neighbouring brackets often have the same: half of
/// what leaves a ReLU is 0.
class EqualTo {
 public:
  explicit EqualTo(std::span<const float> values) : values_(values) {}

  std::size_t operator()(float value) {
    if (!counted_ || *counted_ != value) count_ = count_equal(values_, value);
    counted_ = value;
    return count_;
  }

 private:
  std::span<const float> values_;
  std::optional<float> counted_;
  std::size_t count_ = 0;
};

/// The value that a sort would put at `place`. Places ascend from call to call; the next one costs a look at the rest.
float at(Within& within, std::size_t place) {
  const auto rest = within.values.begin() + static_cast<std::ptrdiff_t>(within.placed);
  const auto found = within.values.begin() + static_cast<std::ptrdiff_t>(place);
  if (place == within.placed) {
    std::iter_swap(rest, std::min_element(rest, within.values.end()));
  } else if (place > within.placed) {
    std::nth_element(rest, found, within.values.end());
  }
  within.placed = std::max(within.placed, place + 1);
  return *found;
}

/// The value at this rank, if it is in the bracket.
std::optional<float> find(const Bracket& bracket, std::size_t rank, Within& within, EqualTo& equal_to) {
  if (rank < bracket.up_to_low) {
    return rank >= bracket.up_to_low - equal_to(bracket.low) ? std::optional(bracket.low) : std::nullopt;
  }
  const auto place = rank - bracket.up_to_low;
  if (place < within.values.size()) return at(within, place);
  // Where both ends are equal, these were counted with the lower one.
  const auto up_to_high = within.values.size() + (bracket.low < bracket.high ? equal_to(bracket.high) : 0);
  return place < up_to_high ? std::optional(bracket.high) : std::nullopt;
}

float search(std::span<const float> values, std::size_t rank) {
  std::vector<float> copy(values.begin(), values.end());
  const auto found = copy.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(copy.begin(), found, copy.end());
  return *found;
}

/// Neighbouring ranks lie in one bracket.
bool shares_bracket(std::size_t rank, std::size_t with) {
  return rank <= with + 1;
}

std::vector<float> sorted_statistics(std::span<const float> values, std::span<const std::size_t> ranks) {
  std::vector<float> sorted(values.begin(), values.end()), found;
  std::sort(sorted.begin(), sorted.end());
  for (const auto rank : ranks) found.push_back(sorted[rank]);
  return found;
}

}  // namespace

std::vector<float> order_statistics(std::span<const float> values, std::span<const std::size_t> ranks,
                                    Scratch& scratch) {
  if (values.size() <= kFew) return sorted_statistics(values, ranks);
  std::vector<double> quantiles;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0 && shares_bracket(ranks[i], ranks[i - 1])) continue;
    quantiles.push_back(static_cast<double>(ranks[i]) / static_cast<double>(values.size()));
  }
  auto brackets = brackets_of(values, quantiles);
  scratch.selected.resize(values.size() + 1);
  const std::span selected(scratch.selected.data(), select(values, brackets, scratch.selected.data()));

  std::vector<float> found;
  Within within;
  EqualTo equal_to(values);
  auto next = brackets.begin();
  const Bracket* bracket = nullptr;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i == 0 || !shares_bracket(ranks[i], ranks[i - 1])) {
      bracket = &*next++;
      take(selected, *bracket, within);
    }
    const auto value = find(*bracket, ranks[i], within, equal_to);
    found.push_back(value ? *value : search(values, ranks[i]));
  }
  return found;
}

}  // namespace paretopipe::codec
