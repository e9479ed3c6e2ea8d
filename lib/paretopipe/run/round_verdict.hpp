#pragma once
#include <paretopipe/config/partition.hpp>
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace paretopipe::run {

/// Whether one more repetition of a split would tell anything.
enum class Verdict {
  open,       ///< yes: an interval is wider than asked for
  settled,    ///< no: its intervals are as narrow as asked for
  dominated,  ///< no: it would not be on the frontier even if it were better by the asked-for precision
};

/// By split points.
using Verdicts = std::map<config::SplitPoints, Verdict>;

/// Repetitions of a split before anything is said of it. With three, no split is settled by chance alone: that takes
/// the intervals of five, which cover 93.75 % at most (stats::coverage_bound).
inline constexpr std::size_t kLeastToDrop = 3;
inline constexpr std::size_t kLeastToSettle = 5;

/// Judges the splits of one group (same model, network and settings) by record::usual_objectives() of the phases that
/// it was measured in: latency_p50 and throughput, or one of them and payload. Their medians over the repetitions are
/// resampled jointly (stats::resampled_medians), every split independently of the others.
///
/// `dominated` takes that no resample puts the split on the frontier of all splits, its latency divided and its
/// throughput multiplied by 1 + precision; its payload, which is known, is what it is. `settled` takes that half of
/// each objective's 95 % interval is at most `precision` of its median. A split without enough ok records is open.
/// Pure: the same records and seed give the same verdicts.
Verdicts judge_round(std::span<const record::TrialRecord> group, double precision, std::uint64_t seed);

}  // namespace paretopipe::run
