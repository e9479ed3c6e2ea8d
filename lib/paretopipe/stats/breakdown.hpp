#pragma once
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/summary.hpp>

#include <cstdint>
#include <vector>

namespace paretopipe::stats {

/// One part of the latency, for every batch in the order of issue, warm-up included.
struct PartSeries {
  record::Part part = record::Part::compute;
  int stage = 0;  ///< where it happens; of a transfer and its decode, the receiving stage (0 for results)
  std::vector<std::int64_t> ns;  ///< one entry a batch
};

/// Where the latency of every batch of a phase went.
struct Breakdown {
  std::vector<PartSeries> parts;         ///< in the order in which a batch passes them
  std::vector<std::int64_t> latency_ns;  ///< handed to the pipeline → completed, one entry a batch
};

/// Stages that took part in the phase: those with moments. One, where all is local.
int stage_count(const record::PhaseSamples& samples);

/// Splits every batch's latency at the moments of core/timeline.hpp. With K stages s = 0 … K-1, every difference begins
/// where the one before it ends, so that in whole nanoseconds the parts add up to the latency of every single batch:
///
///   handed over → [queue s: → compute_begin] [compute s: → compute_end] [encode s: → encoded]
///                 [send_queue s: → send_begin] [transfer: → the next stage's receive_end] [decode: → its ready] …
///                 → [transfer to 0: → results.receive_end] [decode on 0: → completed]
///
/// Where all is local (K = 1) nothing is sent: after encode follows only decode on stage 0, the way back to the source.
/// A batch that is cut into micro-batches is handed over as a whole and complete with its last micro-batch, so that its
/// latency is that of its last micro-batch, and so are the parts: what the last micro-batch waited while the stage
/// computed those before it is `queue`, and what it waited for the link `send_queue`.
///
/// Of batches that were dealt out to devices, stage 0 is the source on their way to the device, and stage 1 the device,
/// whichever it is: the source's own pass stage 0 and the links in no time.
///
/// Throws UsageError for samples without batches, of unequal lengths, or with no batch after the warm-up, and where
/// micro-batches of a batch were handed over at different moments, or a device measured nothing.
Breakdown breakdown(const record::PhaseSamples& samples);

/// The same with one entry a micro-batch instead of a batch. Every micro-batch's parts add up to its own latency.
/// Throws as above.
Breakdown micro_batch_breakdown(const record::PhaseSamples& samples);

}  // namespace paretopipe::stats
