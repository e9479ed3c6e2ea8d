#include "order_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
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

/// Cells of equal width between the ends of a bracket. A larger value is never in an earlier cell.
class Cells {
 public:
  static constexpr std::size_t kCount = 1024;

  explicit Cells(const Bracket& bracket) {
    const float scale = static_cast<float>(kCount) / (bracket.high - bracket.low);
    if (!std::isfinite(scale) || scale == 0) return;  // too narrow or too wide to divide: all in the first
    low_ = bracket.low;
    scale_ = scale;
  }

  std::size_t operator()(float value) const {
    return std::min(static_cast<std::size_t>((value - low_) * scale_), kCount - 1);
  }

 private:
  float low_ = 0;
  float scale_ = 0;
};

/// The values strictly within a bracket. A rank is looked for in its cell alone.
class Within {
 public:
  Within(std::span<const float> selected, const Bracket& bracket) : cells_(bracket), values_(selected.size() + 1) {
    // Written in any case and kept if it is within: a branch would often be guessed wrong.
    std::size_t count = 0;
    for (const float value : selected) {
      values_[count] = value;
      count += static_cast<std::size_t>((value > bracket.low ? 1 : 0) & (value < bracket.high ? 1 : 0));
    }
    values_.resize(count);
    for (const float value : values_) ++counts_[cells_(value)];
  }

  std::size_t size() const { return values_.size(); }

  /// The value that a sort would put at `place`. Places ascend from call to call; the next one costs a look at the rest
  /// of its cell.
  float at(std::size_t place) {
    if (place >= before_ + cell_.size()) take_cell(place);
    const auto within = place - before_;
    const auto rest = cell_.begin() + static_cast<std::ptrdiff_t>(placed_);
    const auto found = cell_.begin() + static_cast<std::ptrdiff_t>(within);
    if (within == placed_) {
      std::iter_swap(rest, std::min_element(rest, cell_.end()));
    } else if (within > placed_) {
      std::nth_element(rest, found, cell_.end());
    }
    placed_ = std::max(placed_, within + 1);
    return *found;
  }

 private:
  void take_cell(std::size_t place) {
    std::size_t cell = 0;
    for (before_ = 0; before_ + counts_[cell] <= place; ++cell) before_ += counts_[cell];
    cell_.clear();
    std::copy_if(values_.begin(), values_.end(), std::back_inserter(cell_),
                 [&](float value) { return cells_(value) == cell; });
    placed_ = 0;
  }

  Cells cells_;
  std::vector<float> values_;
  std::array<std::size_t, Cells::kCount> counts_{};
  std::vector<float>
      cell_;                ///< the values of one cell, of which those before `placed_` are where a sort would put them
  std::size_t before_ = 0;  ///< how many values are in the cells before
  std::size_t placed_ = 0;
};

/// How many values are equal to one that brackets begin or end with. Neighbouring brackets often have the same: half of
/// what leaves a ReLU is 0.
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

/// The value at this rank, if it is in the bracket.
std::optional<float> find(const Bracket& bracket, std::size_t rank, Within& within, EqualTo& equal_to) {
  if (rank < bracket.up_to_low) {
    return rank >= bracket.up_to_low - equal_to(bracket.low) ? std::optional(bracket.low) : std::nullopt;
  }
  const auto place = rank - bracket.up_to_low;
  if (place < within.size()) return within.at(place);
  // Where both ends are equal, these were counted with the lower one.
  const auto up_to_high = within.size() + (bracket.low < bracket.high ? equal_to(bracket.high) : 0);
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
  std::optional<Within> within;
  EqualTo equal_to(values);
  auto next = brackets.begin();
  const Bracket* bracket = nullptr;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i == 0 || !shares_bracket(ranks[i], ranks[i - 1])) {
      bracket = &*next++;
      within.emplace(selected, *bracket);
    }
    const auto value = find(*bracket, ranks[i], *within, equal_to);
    found.push_back(value ? *value : search(values, ranks[i]));
  }
  return found;
}

}  // namespace paretopipe::codec
