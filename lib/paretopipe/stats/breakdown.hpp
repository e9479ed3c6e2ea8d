#pragma once
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/summary.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::stats {

/// One part of the latency for every batch, in the order of issue and including the warm-up.
struct PartSeries {
  record::Part part = record::Part::compute;
  int stage = 0;  ///< where it happens; for a transfer and its decode, the receiving stage (0 for results)
  std::vector<std::int64_t> ns;  ///< one entry a batch
};

/// The parts of the latency of every batch of a phase.
struct Breakdown {
  std::vector<PartSeries> parts;         ///< in the order in which a batch passes them
  std::vector<std::int64_t> latency_ns;  ///< handed to the pipeline → completed, one entry a batch
};

/// The number of stages with moments in the phase. One if all is local.
int stage_count(const record::PhaseSamples& samples);

/// Splits every batch's latency at the moments of core/timeline.hpp. There are K stages s = 0 … K-1. Every difference
/// begins where the one before it ends, so in whole nanoseconds the parts add up to the latency of every batch:
///
///   handed over → [queue s: → compute_begin] [compute s: → compute_end] [encode s: → encoded]
///                 [send_queue s: → send_begin] [transfer: → the next stage's receive_end] [decode: → its ready] …
///                 → [transfer to 0: → results.receive_end] [decode on 0: → completed]
///
/// If all is local (K = 1) nothing is sent: after encode comes only decode on stage 0, the way back to the source. A
/// batch that is cut into micro-batches is handed over as a whole and is complete with its last micro-batch. So its
/// latency and parts are those of its last micro-batch: `queue` includes waiting while the stage computes the earlier
/// ones, and `send_queue` waiting for the link.
///
/// For batches dealt out to devices, stage 0 is the source on the way to the device, and stage 1 is the device,
/// whichever it is. The source's own batches pass stage 0 and the links in no time.
///
/// Throws UsageError for samples without batches, of unequal lengths, or with no batch after the warm-up; also if
/// micro-batches of a batch were handed over at different moments, or a device measured nothing.
Breakdown breakdown(const record::PhaseSamples& samples);

/// The same with one entry per micro-batch instead of batch. The parts of every micro-batch add up to its own latency.
/// Throws as above.
Breakdown micro_batch_breakdown(const record::PhaseSamples& samples);

}  // namespace paretopipe::stats
