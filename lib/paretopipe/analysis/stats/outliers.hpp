#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <span>

namespace paretopipe::stats {

/// The number of first durations that are still warm-up: those before the first one within the outer fence of the
/// second half (fence.hpp). The second half is never warm-up. 0 for fewer than eight durations.
int leading_slow(std::span<const std::int64_t> durations_ns);

/// The number of batches to drop from a phase: `samples.warmup` and those after it that are still slower than the rest;
/// judged by latencies in the SingleStream phase, by times between completions in the Offline phase. Throws UsageError
/// for damaged samples (see breakdown()).
int settled_latency_warmup(const record::PhaseSamples& single_stream);
int settled_throughput_warmup(const record::PhaseSamples& offline);

/// Finds the measured batches far out of line (fence.hpp): in the SingleStream phase by their latency, in the Offline
/// phase by the time since the previous completion. A phase that the trial does not have has none. Outliers stay in
/// every statistic: they are to be explained, not removed. Throws UsageError for damaged samples (see breakdown()).
record::Outliers find_outliers(const std::optional<record::PhaseSamples>& single_stream,
                               const std::optional<record::PhaseSamples>& offline);

}  // namespace paretopipe::stats
