#pragma once
#include <paretopipe/record/record.hpp>
#include <paretopipe/record/summary.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paretopipe::stats {

// Converts series with one entry per micro-batch to series with one entry per batch; each `micro_batches` entries
// belong to one batch. Pure.

using Series = std::vector<std::int64_t>;

/// The entries of every batch's last micro-batch. Micro-batches pass in order, so the batch reaches each moment with
/// its last one.
Series of_last_micro_batches(const Series& series, int micro_batches);

/// The sums over every batch's micro-batches.
Series sums_over_micro_batches(const Series& series, int micro_batches);

/// The durations from `begin` to `end`, entry by entry. Both are of the same length.
Series differences(const Series& end, const Series& begin);

/// One part of the latency for every batch, in the order of issue and including the warm-up.
struct PartSeries {
  record::Part part = record::Part::compute;
  int stage = 0;  ///< where it happens; for a transfer and its decode, the receiving stage (0 for results)
  std::vector<std::int64_t> ns;  ///< one entry a batch
};

/// The parts of the latency of every batch of a phase.
struct Breakdown {
  std::vector<PartSeries> parts;         ///< in the order in which a batch first reaches them
  std::vector<std::int64_t> latency_ns;  ///< handed to the pipeline → completed, one entry a batch
};

/// The number of stages with moments in the phase. One if all is local.
int stage_count(const record::PhaseSamples& samples);

/// Splits every batch's latency at the moments of core/timeline.hpp. There are K stages s = 0 … K-1. Every difference
/// begins where the one before it ends, so in whole nanoseconds the parts add up to the latency of every batch:
///
///   handed over → [queue s: → compute_begin] [compute s: → compute_end] [encode s: → encoded]
///                 [send_queue s: → codec_begin] [encode s: → send_begin]
///                 [transfer: → the next stage's receive_end] [decode: → its ready] …
///                 → [transfer to 0: → results.receive_end] [decode on 0: → completed]
///
/// What the compute thread and the send thread encode is one part. If all is local (K = 1) nothing is sent: after
/// encode comes only decode on stage 0, the way back to the source. A batch that is cut into micro-batches is handed
/// over as a whole and is complete with its last micro-batch. So its latency and parts are those of its last
/// micro-batch: `queue` includes waiting while the stage computes the earlier ones, and `send_queue` waiting for the
/// link.
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

/// The times between successive completions of an Offline phase, in nanoseconds and in the order of issue, from the
/// first measured batch on. Throughput is the inverse of their mean. Throws UsageError for damaged samples (see
/// breakdown()).
std::vector<std::int64_t> measured_intervals_ns(const record::PhaseSamples& offline);

/// The latencies of the measured batches of a SingleStream phase. Throws as above.
std::vector<std::int64_t> measured_latencies_ns(const record::PhaseSamples& single_stream);

/// The batches of one device, in order and with its share of the warm-up, from a phase whose batches were dealt out to
/// several devices. The result is a pipeline of two stages, the source and the device. The source itself, device 0, is
/// one of the devices. `samples` must be accepted by breakdown().
record::PhaseSamples of_device(const record::PhaseSamples& samples, int device);

/// The time between the first and the last completion after warm-up, the window of throughput and utilisation. Moments
/// are in nanoseconds of the phase's time base.
struct CompletionWindow {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t batches = 0;  ///< completed after warm-up, including the first one, which only starts the clock

  double length_ns() const { return static_cast<double>(last - first); }
};

/// `offline` must be accepted by breakdown(). Throws UsageError if no time passes between the two.
CompletionWindow completion_window(const record::PhaseSamples& offline);

/// A period, in nanoseconds of the phase's time base.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const Stretch&) const = default;
};

/// The periods within the window in which a stage computed nothing, in order; none is empty. A stage computes one
/// micro-batch at a time, so their lengths add up to StageUtilisation::bubble times the window.
std::vector<Stretch> bubbles(const StageTimeline& stage, const CompletionWindow& window);

}  // namespace paretopipe::stats
