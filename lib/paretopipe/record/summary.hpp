#pragma once
#include <paretopipe/core/json_fields.hpp>
#include <paretopipe/core/timeline.hpp>
#include <paretopipe/core/training_timeline.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::record {

/// Order statistics and mean of a set of durations, in nanoseconds. Percentiles are linear interpolations between order
/// statistics (Hyndman and Fan's type 7).
struct Distribution {
  std::int64_t count = 0;
  double min_ns = 0;
  double mean_ns = 0;
  double p50_ns = 0;
  double p90_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
  double max_ns = 0;

  bool operator==(const Distribution&) const = default;
};
PARETOPIPE_JSON(Distribution, count, min_ns, mean_ns, p50_ns, p90_ns, p95_ns, p99_ns, max_ns)

/// The parts of a batch's latency. For every single batch the parts add up to the latency, so their means do as well.
/// For a batch that is cut into micro-batches, the parts are those of its last micro-batch (stats::breakdown).
enum class Part { queue, compute, encode, send_queue, transfer, decode };
NLOHMANN_JSON_SERIALIZE_ENUM(Part, {{Part::queue, "queue"},
                                    {Part::compute, "compute"},
                                    {Part::encode, "encode"},
                                    {Part::send_queue, "send_queue"},
                                    {Part::transfer, "transfer"},
                                    {Part::decode, "decode"}})

/// One part of the breakdown of the SingleStream phase. `stage` is where it happens: for a transfer and the decode that
/// follows it, the receiving stage (0 for results).
struct PartSummary {
  Part part = Part::compute;
  int stage = 0;
  double mean_ns = 0;
  double p50_ns = 0;

  bool operator==(const PartSummary&) const = default;
};
PARETOPIPE_JSON(PartSummary, part, stage, mean_ns, p50_ns)

/// One link in the SingleStream phase. If batches are cut, all values are of one micro-batch.
struct LinkSummary {
  int from = 0;
  int to = 0;
  double transfer_p50_ns = 0;          ///< sender's first byte to the kernel → receiver's last byte in its tensor
  double goodput_byte_per_s = 0;       ///< payload / median transfer time
  double receive_rate_byte_per_s = 0;  ///< payload / median time from the header's arrival to the last byte:
                                       // published tables call this throughput

  bool operator==(const LinkSummary&) const = default;
};
PARETOPIPE_JSON(LinkSummary, from, to, transfer_p50_ns, goodput_byte_per_s, receive_rate_byte_per_s)

/// One stage in the Offline phase, over the time between the first and the last completion after warm-up.
struct StageUtilisation {
  double compute_p50_ns = 0;  ///< per batch, all its micro-batches together, at the phase's depth
  double utilisation = 0;     ///< compute-busy time / wall time
  double bubble = 0;          ///< 1 - utilisation

  bool operator==(const StageUtilisation&) const = default;
};
PARETOPIPE_JSON(StageUtilisation, compute_p50_ns, utilisation, bubble)

/// What a stage's computing thread did with a step, in nanoseconds: means over the measured steps, which add up to the
/// time from the end of a step to the end of the next one.
struct StepParts {
  double forward_ns = 0;
  double backward_ns = 0;
  double update_ns = 0;
  double all_reduce_ns = 0;  ///< gradients were added up, once all replicas had theirs
  double encode_ns = 0;      ///< it was free, and the tensor that it needed next was being encoded by its sender
  double transfer_ns = 0;    ///< it was free, and that tensor was on its link
  double decode_ns = 0;      ///< it was free, and that tensor was being decoded
  double waiting_ns = 0;     ///< it was free, and that tensor was not yet sent, or other replicas still computed, or
                             ///< nothing was left to do

  double busy_ns() const { return forward_ns + backward_ns + update_ns; }
  double all_ns() const;
  double utilisation() const { return all_ns() > 0 ? busy_ns() / all_ns() : 0; }  ///< compute-busy time / wall time
  bool operator==(const StepParts&) const = default;
};
/// The fields for codecs and replicas are newer than the others, and are left out if they are 0.
PARETOPIPE_JSON_UNLESS_USUAL(StepParts, (forward_ns, backward_ns, update_ns, transfer_ns, waiting_ns),
                             (encode_ns, all_reduce_ns, decode_ns))

inline constexpr std::array kStepParts{&StepParts::forward_ns,    &StepParts::backward_ns, &StepParts::update_ns,
                                       &StepParts::all_reduce_ns, &StepParts::encode_ns,   &StepParts::transfer_ns,
                                       &StepParts::decode_ns,     &StepParts::waiting_ns};
inline constexpr std::array<std::string_view, kStepParts.size()> kStepPartNames{
    "forward", "backward", "update", "all-reduce", "encode", "transfer", "decode", "waiting"};

/// The results of a trial that trains.
struct TrainingSummary {
  Distribution step;              ///< stage 0 begins its first forward → all stages have updated their weights
  double step_error_ns = 0;       ///< most by which a step's time may be wrong, because its end is on another clock
  double sample_per_s = 0;        ///< from the last warm-up step's end to the last step's
  std::vector<StepParts> stages;  ///< in the same time
  double bubble = 0;              ///< share of that time in which a stage does not compute, mean over the stages
  double expected_bubble = 0;     ///< the same if nothing took time but computing: the schedule's own
  double bound_sample_per_s = 0;  ///< sample_per_s in that case
  double last_loss = 0;           ///< of the last step
  std::optional<double> uncompressed_loss{};  ///< with a lossy codec: of the same step, of one process without it

  bool operator==(const TrainingSummary&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(TrainingSummary,
                             (step, sample_per_s, stages, bubble, expected_bubble, bound_sample_per_s, last_loss,
                              uncompressed_loss),
                             (step_error_ns))

/// The results of a trial, derived from its raw samples. Values of a phase that the trial does not have are absent, and
/// its lists are empty.
struct Summary {
  std::optional<Distribution> latency;             ///< SingleStream
  std::optional<double> throughput_image_per_s;    ///< Offline
  std::optional<Distribution> latency_under_load;  ///< Offline
  std::vector<PartSummary> breakdown;              ///< SingleStream, in the order in which a batch passes
  std::vector<LinkSummary> links;                  ///< SingleStream, in ring order; empty when all is local
  std::vector<StageUtilisation> stages;            ///< Offline
  std::optional<TrainingSummary> training{};       ///< of the steps

  bool operator==(const Summary&) const = default;
};
void to_json(nlohmann::json& json, const Summary& summary);
void from_json(const nlohmann::json& json, Summary& summary);

/// The measurements of a Server phase at one rate, derived from its moments.
struct ServerSummary {
  Distribution latency;             ///< completed − scheduled
  double offered_image_per_s = 0;   ///< by the random schedule of the measured queries
  double achieved_image_per_s = 0;  ///< by the same queries, between the first and the last completion
  bool saturated = false;           ///< the pipeline did not keep up: its latency grows with the length of the phase
  double source_wait_mean_ns = 0;   ///< part of the latency: waiting at the source while `depth` batches are in flight

  bool operator==(const ServerSummary&) const = default;
};
PARETOPIPE_JSON(ServerSummary, latency, offered_image_per_s, achieved_image_per_s, saturated, source_wait_mean_ns)

/// A Server phase at one rate. Moments are in nanoseconds since the beginning of its schedule.
struct ServerRun {
  double rate_image_per_s = 0;  ///< as requested
  int warmup = 0;               ///< batches at the beginning that enter no statistic
  ServerTimeline moments;
  ServerSummary summary;

  bool operator==(const ServerRun&) const = default;
};
PARETOPIPE_JSON(ServerRun, rate_image_per_s, warmup, moments, summary)

/// The result of a search for the highest rate, which lies between these two.
struct MaxRate {
  std::optional<double> kept_image_per_s;    ///< highest rate that kept the bound; absent if none did
  std::optional<double> missed_image_per_s;  ///< lowest rate that missed it; absent if all kept it

  bool operator==(const MaxRate&) const = default;
};
PARETOPIPE_JSON(MaxRate, kept_image_per_s, missed_image_per_s)

/// A trial's Server phases: one at the trial's rate, or those of its search, in the order in which they ran.
struct ServerRecord {
  std::vector<ServerRun> runs;
  std::optional<MaxRate> max_rate;  ///< of a search

  bool operator==(const ServerRecord&) const = default;
};
PARETOPIPE_JSON(ServerRecord, runs, max_rate)

/// What is known of a training whose activations and gradients a lossy codec changed. Its weights cannot equal those of
/// one process, so they were not compared.
struct LossyTraining {
  std::vector<double> first_losses;  ///< of the steps before the samples, which are verified without such a codec
  /// Of one process that trains alone, without a codec: for these steps and those of the samples, as far as computed.
  std::vector<double> uncompressed_losses;

  bool operator==(const LossyTraining&) const = default;
};
PARETOPIPE_JSON(LossyTraining, first_losses, uncompressed_losses)

/// Raw samples of a trial that trains: every micro-batch of every step, including dropped ones, in nanoseconds of stage
/// 0's clock since its first forward began.
struct TrainingSamples {
  int warmup = 0;         ///< steps excluded from statistics
  int micro_batches = 1;  ///< of a step
  std::vector<TrainingTimeline> stages;
  std::vector<double> losses;  ///< of each step: the mean over its batch
  /// How many steps before these were verified: after them every parameter, buffer and optimiser state was, bit for
  /// bit, that of one process that trains alone.
  int verified_steps = 0;
  std::optional<LossyTraining> lossy{};  ///< if a codec is lossy
  /// The share by which losses may differ. If CPUs are of several kinds, the losses of the steps before these were
  /// compared in place of the weights, and no step counts as verified.
  double loss_tolerance = 0;
  std::int64_t reduced_bytes = 0;  ///< of gradients that replicas add up in a step

  bool operator==(const TrainingSamples&) const = default;
};
PARETOPIPE_JSON_UNLESS_USUAL(TrainingSamples, (warmup, micro_batches, stages, losses, verified_steps, lossy),
                             (loss_tolerance, reduced_bytes))

}  // namespace paretopipe::record
