#pragma once
#include <optional>

namespace paretopipe::run {

/// The highest rate of requests that keeps a bound, found by trying: bracket it, then halve the bracket in ratio. Rates
/// are tried upwards by doubling as long as they keep the bound, and downwards by halving to an eighth of the first.
/// The search ends when the lowest rate that missed is at most kResolution above the highest that kept, when the eighth
/// missed, too, or after kMostRates. Pure: it knows what the outcomes were and nothing of how they came about.
class MaxRateSearch {
 public:
  static constexpr double kResolution = 0.05;
  static constexpr int kMostRates = 16;

  /// `first` is more than 0: a rate that is likely to be near the answer.
  explicit MaxRateSearch(double first) : lowest_(first / 8), next_(first) {}

  /// The rate to be tried next; none when the search is over.
  std::optional<double> next() const { return next_; }

  /// The outcome at next(), which must not be none.
  void tried(bool kept);

 private:
  double lowest_;
  std::optional<double> next_;
  std::optional<double> kept_;
  std::optional<double> missed_;
  int tried_ = 0;
};

}  // namespace paretopipe::run
