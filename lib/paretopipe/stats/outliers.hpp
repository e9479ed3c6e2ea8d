#pragma once
#include <paretopipe/record/record.hpp>

namespace paretopipe::stats {

/// The measured batches far out of line (fence.hpp): in the SingleStream phase by their latency, in the Offline phase
/// by the time since the completion before theirs. A phase that the trial does not have has none. They stay in every
/// statistic: an outlier is something to explain, not to remove. Throws UsageError for damaged samples (see
/// breakdown()).
record::Outliers find_outliers(const std::optional<record::PhaseSamples>& single_stream,
                               const std::optional<record::PhaseSamples>& offline);

}  // namespace paretopipe::stats
