#pragma once
#include <optional>

namespace paretopipe::run {

/// Finds the highest rate of requests that keeps a bound, by trying: brackets it, then halves the bracket in ratio.
/// Rates double as long as they keep the bound; downwards they halve to an eighth of the first. The search ends when
/// the lowest rate that missed is at most kResolution above the highest that kept, when the eighth missed too, or after
/// kMostRates. Pure: it knows only the outcomes.
class MaxRateSearch {
 public:
  static constexpr double kResolution = 0.05;
  static constexpr int kMostRates = 16;

  /// `first`: more than 0, likely to be near the answer.
  explicit MaxRateSearch(double first) : lowest_(first / 8), next_(first) {}

  /// The next rate to try; none when the search is over.
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
