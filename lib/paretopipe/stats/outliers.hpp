#pragma once
#include <paretopipe/record/record.hpp>

namespace paretopipe::stats {

/// Finds the measured batches far out of line (fence.hpp): in the SingleStream phase by their latency, in the Offline
/// phase by the time since the previous completion. A phase that the trial does not have has none. Outliers stay in
/// every statistic: they are to be explained, not removed. Throws UsageError for damaged samples (see breakdown()).
record::Outliers find_outliers(const std::optional<record::PhaseSamples>& single_stream,
                               const std::optional<record::PhaseSamples>& offline);

}  // namespace paretopipe::stats
