#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::stats {

/// Of an Offline phase, the time from every batch's completion to the next one's, in nanoseconds and in the order of
/// issue, from the first measured batch on: throughput is the inverse of their mean.
/// Throws UsageError for damaged samples (see breakdown()).
std::vector<std::int64_t> measured_intervals_ns(const record::PhaseSamples& offline);

/// Of a SingleStream phase, the latencies of the measured batches. Throws as above.
std::vector<std::int64_t> measured_latencies_ns(const record::PhaseSamples& single_stream);

}  // namespace paretopipe::stats
