#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Stages that became slower within a trial: a processor that throttles, a neighbour that came.
namespace paretopipe::stats {

/// Where a series of durations becomes longer for good.
struct Rise {
  int first = 0;         ///< duration that belongs to the later part
  double before_ns = 0;  ///< median of the earlier part
  double after_ns = 0;   ///< median of the later part
};

/// The series is cut where the distances of all durations from the median of their part add up to the least. It has
/// risen if the later part's median is at least kRise times the earlier one's and kLeastRiseNs more, and nine in ten of
/// the later durations are above nine in ten of the earlier ones. Of parts of fewer than kLeastDurations nothing is
/// said: a burst of slow batches, which outliers tell of, is no rise, and neither is one that passed.
///
/// Of a long series groups of neighbours are looked at, each by its median, so that `first` is the first of a group.
std::optional<Rise> find_rise(std::span<const std::int64_t> durations_ns);

inline constexpr double kRise = 1.25;
inline constexpr double kLeastRiseNs = 100'000;  ///< less is a matter of caches and of waking up
inline constexpr std::size_t kLeastDurations = 8;

/// In the phases that the trial has, by what a stage computed at each measured batch. Of batches that were dealt out to
/// devices, by device. What rose by less than a quarter of what another stage of the phase did is left out. Throws
/// UsageError for damaged samples (see breakdown()).
std::vector<record::SlowDown> find_slow_downs(const std::optional<record::PhaseSamples>& single_stream,
                                              const std::optional<record::PhaseSamples>& offline);

/// One sentence each: "stage 1 took 1.8 times as long for a batch from batch 31 of the throughput run on".
std::vector<std::string> slow_down_sentences(const record::TrialRecord& record);

}  // namespace paretopipe::stats
