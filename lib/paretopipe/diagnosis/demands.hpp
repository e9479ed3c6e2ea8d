#pragma once
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Why a trial was as fast as it was, by operational analysis (Denning and Buzen, "The Operational Analysis of Queueing
/// Network Models", 1978): everything follows from what was observed, nothing is assumed of distributions.
namespace paretopipe::diagnosis {

/// How long something was busy with a batch of the Offline phase, in nanoseconds.
struct Busy {
  double mean_ns = 0;  ///< the service demand
  double p90_ns = 0;   ///< one batch in ten took longer
};

struct StageDemand {
  Busy busy{};                 ///< its compute thread: compute and encode
  double compute_p50_ns = 0;   ///< as recorded: compute at depth
  double idle_compute_ns = 0;  ///< the same with one batch in flight
  double utilisation = 0;      ///< as recorded: compute within the throughput window / its length
};

/// A link of the ring; the last one leads back to stage 0.
struct LinkDemand {
  int from = 0;
  int to = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t header_bytes = 0;
  std::optional<std::int64_t> rate_bit_per_s{};  ///< what it was shaped to, as read back
  double delay_ns = 0;                           ///< one way, as read back; 0 where nothing shaped it
  /// What kept others off it. Of micro-batch c (a batch that is not cut is one), with all moments of the Offline phase,
  /// from
  ///   max(send_begin[c] + delay, ready[c - 1])
  /// to ready[c], when the receiver has decoded it and takes the next. But for no longer than a transfer takes when it
  /// is alone (SingleStream's median, less the delay), or than from the header to ready: what is beyond that lay in a
  /// buffer, because the receiver did not take it, and says nothing of the link.
  Busy busy{};
};

/// Where the mean latency with one batch in flight goes; the three parts add up to it.
struct IdleLatency {
  double compute_ns = 0;
  double transfer_ns = 0;
  double other_ns = 0;  ///< queues, encode, decode

  double total_ns() const { return compute_ns + transfer_ns + other_ns; }
};

/// What every part of the pipeline had to do for one batch in the Offline phase, as means over the batches that
/// throughput counts: those after the first that completed after warm-up. The order of stages and links is the ring's.
struct Demands {
  int batch = 1;                      ///< images
  int micro_batches = 1;              ///< into which a batch is cut
  int in_flight = 1;                  ///< batches; at most as many as the phase has
  double batches = 0;                 ///< that throughput counts
  double throughput_image_per_s = 0;  ///< as recorded
  std::vector<StageDemand> stages{};
  std::vector<LinkDemand> links{};  ///< empty where all is local
  /// From a batch's completion to the next one's hand-over in its place, in which its output is compared with the
  /// unsplit model's. Absent where all batches were in flight at once.
  std::optional<double> source_ns{};
  IdleLatency idle{};
  bool stages_share_cpus = false;  ///< two stages ran on the same CPU, as read back

  /// With one batch in flight: batch / mean latency (Little's law). Absent where that is 0.
  std::optional<double> sequential_image_per_s() const;

  /// The first of those whose compute thread is busy longest.
  const StageDemand& slowest_stage() const;

  /// From one result to the next: batch / throughput.
  double period_ns() const { return batch * 1e9 / throughput_image_per_s; }

  /// A batch's time round the ring if it waited for nothing: all that stages and links are busy with it, the links'
  /// delays, and the source. Of c micro-batches, all parts take turns for the first one, and the others come out of the
  /// slowest part one after the other, as in a flow shop without waiting: with D the parts' demands a batch,
  ///   delays + source + (sum D + (c - 1) max D) / c.
  double unqueued_ns() const;
};

/// Of an ok record with the samples of both phases; throws UsageError for another one and for damaged samples.
Demands demands_of(const record::TrialRecord& record);

/// The median of every number over repetitions of one configuration, at least one: for an even count, the mean of the
/// middle two. (Medians of parts need not add up to the median of a sum.) Throws std::invalid_argument for none.
Demands median_demands(std::span<const Demands> repetitions);

}  // namespace paretopipe::diagnosis
