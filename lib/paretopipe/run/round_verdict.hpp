#pragma once
#include <paretopipe/config/partition.hpp>
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace paretopipe::run {

/// Whether another repetition of a split would tell anything.
enum class Verdict {
  open,       ///< yes: an interval is wider than requested
  settled,    ///< no: its intervals are as narrow as requested
  dominated,  ///< no: not on the frontier even if it were better by the requested precision
};

/// By split points.
using Verdicts = std::map<config::SplitPoints, Verdict>;

/// The repetitions that a split needs before a verdict. With three, no split is settled by chance alone: settling needs
/// the intervals of five, which cover 93.75 % at most (stats::coverage_bound).
inline constexpr std::size_t kLeastToDrop = 3;
inline constexpr std::size_t kLeastToSettle = 5;

/// Judges the splits of one group (same model, network and settings) by record::usual_objectives() of its measured
/// phases: latency_p50 and throughput, or one of them and payload. Their medians over the repetitions are resampled
/// jointly (stats::resampled_medians), independently for each split.
///
/// A split is `dominated` if no resample puts it on the frontier of all splits even with its latency divided and its
/// throughput multiplied by 1 + precision; its payload is known and not improved. It is `settled` if half of each
/// objective's 95 % interval is at most `precision` of its median. A split without enough ok records is open. Pure: the
/// same records and seed give the same verdicts.
Verdicts judge_round(std::span<const record::TrialRecord> group, double precision, std::uint64_t seed);

}  // namespace paretopipe::run
