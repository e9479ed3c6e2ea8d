#pragma once
#include <paretopipe/analysis/predict/verification.hpp>

#include <span>

namespace paretopipe::predict {

/// The fewest measured splits from which a pipeline is fitted: two numbers each for latency and throughput, and two
/// more splits to tell how well they fit.
inline constexpr int kFewestFitted = 4;

/// Fits what a pipeline adds to the times of the question's profiles, from records of a few of its splits. Leaves out
/// other records, as verify() does. Takes the records over the question's network if there are enough of them, and
/// otherwise those over any network. Outliers count little: the fit makes the sum of errors least, not that of their
/// squares.
///
/// The spreads are half the width of the interval that holds 95 % of further splits, by Student's t because the splits
/// are few. Throws UsageError for fewer than kFewestFitted splits.
Corrections fit(Question question, std::span<const record::TrialRecord> records);

/// The shares by which predictions may be worse than what would be measured.
struct Margins {
  double latency = 0;     ///< by which a latency may be too long
  double throughput = 0;  ///< by which a throughput may be too low

  bool operator==(const Margins&) const = default;
};

/// The margins that 95 % of further splits keep, judged by splits that were measured after fit(). They are one-sided:
/// a split that is slower than predicted widens nothing, because it may have been disturbed. Takes at least
/// kFewestFitted splits.
Margins margins_of(std::span<const VerifiedSplit> splits);

}  // namespace paretopipe::predict
