#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <span>

namespace paretopipe::stats {

/// How many of the first durations are still warm-up: those before the first one that is within the outer fence of the
/// second half (fence.hpp). The second half is never warm-up, and of fewer than eight durations nothing is said: 0.
int leading_slow(std::span<const std::int64_t> durations_ns);

/// The batches to drop from a phase: `samples.warmup`, and those after it that are still slower than what follows.
/// In the SingleStream phase by their latencies, in the Offline phase by the times between completions.
/// Throws UsageError for damaged samples (see breakdown()).
int settled_latency_warmup(const record::PhaseSamples& single_stream);
int settled_throughput_warmup(const record::PhaseSamples& offline);

}  // namespace paretopipe::stats
