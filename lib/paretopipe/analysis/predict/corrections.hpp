#pragma once
#include <paretopipe/analysis/predict/verification.hpp>

#include <span>

namespace paretopipe::predict {

/// The fewest measured splits from which a pipeline is fitted: two numbers each for latency and throughput, and two
/// more splits to tell how well they fit.
inline constexpr int kFewestFitted = 4;

/// What a pipeline adds to the times of the question's profiles, from records of a few of its splits; other records are
/// left out as verify() does. Those over the question's network are taken if there are enough of them, and otherwise
/// those over any. Outliers count little: the sum of errors is made least, not that of their squares.
///
/// The spreads are half the width of the interval that holds 95 % of further splits, by Student's t for the few splits
/// that there are. Throws UsageError for fewer than kFewestFitted splits.
Corrections fit(Question question, std::span<const record::TrialRecord> records);

/// Shares by which predictions may be too bad.
struct Margins {
  double latency = 0;     ///< longer than what would be measured
  double throughput = 0;  ///< lower

  bool operator==(const Margins&) const = default;
};

/// The margins that 95 % of further splits keep, by those that were measured after fit(): the one side of the interval
/// that fit() has for both. A split that is slower than predicted widens nothing, for it may have been disturbed. At
/// least kFewestFitted splits.
Margins margins_of(std::span<const VerifiedSplit> splits);

}  // namespace paretopipe::predict
