#pragma once
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/summary.hpp>

#include <optional>
#include <vector>

namespace paretopipe::stats {

/// Summarises a trial's raw samples: `batch` images per batch, `links` in ring order (empty when all is local). A phase
/// that the trial does not have adds nothing. Warm-up batches enter no statistic; they only count as busy time if they
/// reach into the measured window.
///
/// Throughput: n batches completed after warm-up make (n - 1) batch / (t_last - t_first) images per second, because the
/// first completion only starts the clock. Utilisation: compute time within [t_first, t_last] / (t_last - t_first). If
/// batches are cut into micro-batches, a batch's compute time is the sum over its micro-batches, and a link's transfer
/// time and rates are those of one micro-batch. Rates of a link divide by a median of whole nanoseconds; a median below
/// the clock's resolution counts as 1 ns.
///
/// If batches were dealt out to devices, `links` are the ways to and from each device, and every device has its own
/// utilisation and links, over its own batches. Results come back in groups of up to one per device, so few batches
/// flatter the throughput: with n batches, by up to (devices - 1) / (n - devices).
///
/// Throws UsageError for damaged samples (see breakdown()), for an Offline phase with fewer than two batches after
/// warm-up or no time between the first and the last moment, and for links and stages that do not match.
record::Summary summarise(const std::optional<record::PhaseSamples>& single_stream,
                          const std::optional<record::PhaseSamples>& offline, int batch,
                          const std::vector<record::LinkPayload>& links);

/// Throws UsageError unless the record's summary equals what summarise() makes of its samples, to one part in 10^9
/// (other compilers add in other orders), and there are at least as many samples as its trial asks for. A record
/// without a summary has nothing to check. The same holds for its Server phases. Numbers that were edited by hand or
/// damaged must not become a result.
void check_summary(const record::TrialRecord& record);

}  // namespace paretopipe::stats
