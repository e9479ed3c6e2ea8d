#pragma once
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/summary.hpp>

#include <optional>
#include <vector>

namespace paretopipe::stats {

/// What a trial measured, from its raw samples: `batch` images per batch, `links` in ring order (empty when all is
/// local). A phase that the trial does not have adds nothing. Warm-up batches enter no statistic; they only count as
/// busy time where they reach into the measured window.
///
/// Throughput: n batches completed after warm-up make (n - 1) batch / (t_last - t_first) images per second, because the
/// first completion only starts the clock. Utilisation: compute time within [t_first, t_last] / (t_last - t_first).
/// Where batches are cut into micro-batches, a batch's compute time is the sum over its micro-batches, and what a link
/// says is of one micro-batch: transfer time and rates. Rates of a link divide by a median of whole nanoseconds; one
/// below the clock's resolution counts as 1 ns.
///
/// Where batches were dealt out to devices, `links` are each device's way there and back, and every device has its own
/// utilisation and links, over its own batches. Their results come back in groups of up to one a device, so that few
/// batches flatter the throughput: of n, by up to (devices - 1) / (n - devices).
///
/// Throws UsageError for damaged samples (see breakdown()), for fewer than two batches after warm-up in the Offline
/// phase or none between the first and the last moment, and where links and stages do not belong together.
record::Summary summarise(const std::optional<record::PhaseSamples>& single_stream,
                          const std::optional<record::PhaseSamples>& offline, int batch,
                          const std::vector<record::LinkPayload>& links);

}  // namespace paretopipe::stats
