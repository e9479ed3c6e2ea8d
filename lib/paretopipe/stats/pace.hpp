#pragma once
#include <paretopipe/record/record.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::stats {

/// The times between successive completions of an Offline phase, in nanoseconds and in the order of issue, from the
/// first measured batch on. Throughput is the inverse of their mean. Throws UsageError for damaged samples (see
/// breakdown()).
std::vector<std::int64_t> measured_intervals_ns(const record::PhaseSamples& offline);

/// The latencies of the measured batches of a SingleStream phase. Throws as above.
std::vector<std::int64_t> measured_latencies_ns(const record::PhaseSamples& single_stream);

}  // namespace paretopipe::stats
