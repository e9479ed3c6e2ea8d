#pragma once
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Explains a trial's speed by operational analysis (Denning and Buzen, "The Operational Analysis of Queueing Network
/// Models", 1978): everything follows from observations, and no distributions are assumed.
namespace paretopipe::diagnosis {

/// Where a step of training spends its time: medians over repetitions.
struct StepDemands {
  double sample_per_s = 0;
  double bound_sample_per_s = 0;            ///< that of the schedule, if nothing took time but computing
  int batch = 1;                            ///< samples of a step
  double step_error_ns = 0;                 ///< of a step's time, if the step ends on another clock than it began
  std::vector<record::StepParts> stages{};  ///< of a step
  double bubble = 0;
  double expected_bubble = 0;
  double last_loss = 0;
  std::optional<double> uncompressed_loss{};  ///< with a lossy codec: of the same step without it

  double interval_ns() const { return 1e9 * batch / sample_per_s; }     ///< from the end of a step to that of the next
  double bound_ns() const { return 1e9 * batch / bound_sample_per_s; }  ///< the same at the bound
  double reached() const { return sample_per_s / bound_sample_per_s; }  ///< more than 1 where steps are too few

  /// The stage that computes longest, and for how long in each step.
  std::size_t busiest() const;
  double busy_ns(std::size_t stage) const;

  /// What the schedule adds to that: the time in which the pipeline fills and drains, or its stages wait for each
  /// other.
  double filling_ns() const;

  /// What is left of the interval: transfers that nothing hides, and whatever else the bound leaves out.
  double beyond_ns() const;
};

/// Takes the medians over records that trained alike. There must be at least one.
StepDemands step_demands(std::span<const record::TrialRecord* const> records);

/// How long a part was busy with a batch of the Offline phase, in nanoseconds.
struct Busy {
  double mean_ns = 0;  ///< the service demand
  double p90_ns = 0;   ///< one batch in ten took longer
};

struct StageDemand {
  /// Its compute thread. Without a CPU to spare, this thread and the encoding send thread take turns, and each takes
  /// longer while the other works. This is then the time in which either worked.
  Busy busy{};
  Busy codec{};                ///< its send thread, while it encodes; 0 without a codec, and if `busy` includes it
  double sender_ns = 0;        ///< its send thread with a codec: encoding, and handing over to the kernel
  double compute_p50_ns = 0;   ///< as recorded: median compute at depth
  double idle_compute_ns = 0;  ///< the same, with one batch in flight
  double utilisation = 0;      ///< as recorded: share of the throughput window spent in compute
};

/// A link of the ring. The last link leads back to stage 0.
struct LinkDemand {
  int from = 0;
  int to = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t header_bytes = 0;
  std::optional<std::int64_t> rate_bit_per_s{};  ///< its shaped rate, as read back
  double delay_ns = 0;                           ///< one way, as read back; 0 if not shaped
  /// The time for which a micro-batch c (a batch that is not cut is one micro-batch) kept others off the link. All
  /// moments are of the Offline phase. It lasts from
  ///   max(send_begin[c] + delay, ready[c - 1])
  /// to ready[c], when the receiver has decoded it and takes the next one. It is capped at the time of a transfer that
  /// is alone (SingleStream's median, less the delay) or the time from the header to ready, whichever is longer. Any
  /// excess is time in a buffer while the receiver was busy, and says nothing about the link.
  Busy busy{};
  /// The most by which `busy` can be wrong because its moments are of two clocks; absent if they are of one.
  std::optional<double> clock_error_ns{};
};

/// The parts of the mean latency with one batch in flight; they add up to it.
struct IdleLatency {
  double compute_ns = 0;
  double transfer_ns = 0;
  double coding_ns = 0;  ///< encode and decode
  double other_ns = 0;   ///< queues

  double total_ns() const { return compute_ns + transfer_ns + coding_ns + other_ns; }
};

/// The demands of all parts of the pipeline for one batch of the Offline phase, as means over the batches that
/// throughput counts: those after the first that completed after warm-up. Stages and links are in the ring's order.
struct Demands {
  int batch = 1;                      ///< images per batch
  int micro_batches = 1;              ///< per batch
  int in_flight = 1;                  ///< batches; at most the phase's number of batches
  double batches = 0;                 ///< number of batches that throughput counts
  double throughput_image_per_s = 0;  ///< as recorded
  std::vector<StageDemand> stages{};
  std::vector<LinkDemand> links{};  ///< empty if all is local
  /// The time from a batch's completion to the hand-over of the batch that replaces it, in which the output is compared
  /// with the unsplit model's. Absent if all batches were in flight at once.
  std::optional<double> source_ns{};
  IdleLatency idle{};
  bool stages_share_cpus = false;  ///< two stages ran on the same CPU, as read back

  /// Throughput with one batch in flight: batch / mean latency (Little's law). Absent if the latency is 0.
  std::optional<double> sequential_image_per_s() const;

  /// The stage whose compute thread is busy longest; the first of equal ones.
  const StageDemand& slowest_stage() const;

  /// The time from one result to the next: batch / throughput.
  double period_ns() const { return batch * 1e9 / throughput_image_per_s; }

  /// A batch's time round the ring if it never waited: the work of all stages and links, the links' delays, and the
  /// source. With c micro-batches, the first one passes all parts in turn. The others leave the slowest part one after
  /// another, as in a flow shop without waiting. With D the parts' demands per batch:
  ///   delays + source + (sum D + (c - 1) max D) / c.
  double unqueued_ns() const;
};

/// Computes the demands from an ok record with the samples of both phases. Throws UsageError for any other record and
/// for damaged samples.
Demands demands_of(const record::TrialRecord& record);

/// The median of every number over the repetitions of one configuration. For an even count it is the mean of the middle
/// two. (Medians of parts need not add up to the median of a sum.) A clock error is the largest of all repetitions'.
/// Throws std::invalid_argument if there are no repetitions.
Demands median_demands(std::span<const Demands> repetitions);

}  // namespace paretopipe::diagnosis
