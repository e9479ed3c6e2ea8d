#pragma once
#include <paretopipe/analysis/predict/exact_frontier.hpp>
#include <paretopipe/analysis/predict/profile.hpp>
#include <paretopipe/experiment/network_profile.hpp>
#include <paretopipe/experiment/placement.hpp>
#include <paretopipe/experiment/trial.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::predict {

/// What a pipeline does to the times of a profile, in which one device computes at a time and nothing is handed over.
/// fit() finds these numbers from a few real trials.
struct Corrections {
  double idle_pace = 1;     ///< a stage's time with one batch in flight, as a multiple of the profile's
  double busy_pace = 1;     ///< the same with batches waiting for it
  double hand_over_ns = 0;  ///< what each link adds to a batch's latency: threads that wake up, relays
  double contention = 0;  ///< share of the other stages' time by which the slowest is held up: their caches and memory
  double latency_spread = 0;     ///< 95 % of latencies are within this share of the prediction, as far as trials tell
  double throughput_spread = 0;  ///< the same of throughputs
  int splits = 0;                ///< that were measured to find these

  bool operator==(const Corrections&) const = default;
};

/// What would be the fastest ways to cut the model on the devices of these profiles?
struct Question {
  std::vector<Profile> profiles{};  ///< at least one; their devices form the pipeline, in their order
  int stages = 0;                   ///< 0: as many as there are devices
  std::optional<experiment::NetworkProfile> network{};  ///< of every link; none: as the profiles' links were probed
  /// What keeps the network's rate: a real one and netem count frames with their headers, and emulated the bytes of
  /// the stream.
  experiment::Shaping shaping = experiment::Shaping::netem;
  experiment::Placement placement{};              ///< says which way of the network each link goes
  bool any_order = false;                         ///< choose the devices and their order, too
  int depth = 4;                                  ///< batches in flight
  std::vector<std::string> codecs{codec::kNone};  ///< to choose from, each for all cuts; canonical, at least one
  std::vector<std::int64_t> memory_bytes{};       ///< that a stage may need, for all devices or for each; empty: any
  bool least_memory = false;                      ///< the memory of the stage that needs most is a third objective
  std::optional<double> rate_image_per_s{};       ///< at which images arrive on their own, as in the Server scenario
  Corrections corrections{};
};

/// The question to which a trial is an answer. It chooses among all codecs that the profiles know.
Question question_about(std::vector<Profile> profiles, const experiment::Trial& trial);

/// A number, and the band in which it is expected. At its ends every stage is as fast as its fast rounds or as slow as
/// its slow ones, and jitter does its least or most. It is wider by the errors of predictions that trials showed
/// (Corrections).
struct Band {
  double low = 0;
  double value = 0;
  double high = 0;

  bool contains(double number) const { return low <= number && number <= high; }
  bool operator==(const Band&) const = default;
};

/// What bounds the throughput of a predicted split.
struct Bottleneck {
  enum class Kind { stage, link, depth, cpus };
  Kind kind = Kind::stage;
  int number = 0;  ///< of the stage, of the stage that sends, or of the first of the stages that share CPUs

  bool operator==(const Bottleneck&) const = default;
};

/// The latency of images that arrive on their own, from their arrival.
struct ServerLatency {
  Band mean_ns{};
  Band p99_ns{};

  bool operator==(const ServerLatency&) const = default;
};

struct PredictedSplit {
  std::vector<PlacedStage> stages{};                        ///< those without blocks among them
  std::string codec = codec::kNone;                         ///< of all cuts; none if all is local
  std::vector<Band> stage_ns{};                             ///< what each computes
  std::vector<Band> coding_ns{};                            ///< what each decodes and encodes; empty without a codec
  std::vector<std::optional<std::int64_t>> memory_bytes{};  ///< that each needs; absent if the profile does not say
  std::vector<std::int64_t> payload_bytes{};                ///< that leave each stage, encoded; empty if all is local
  std::vector<Band> link_ns{};                              ///< that these take to the next stage
  Band latency_ns{};                                        ///< with one batch in flight
  Band throughput_image_per_s{};
  Bottleneck bottleneck{};
  /// Absent without a rate, and if queueing says nothing: the rate is more than the split completes, or batches in
  /// flight bound the split.
  std::optional<ServerLatency> server{};

  bool all_local() const { return payload_bytes.empty(); }
  /// One per cut, as a sweep writes them.
  std::vector<int> split_points() const;
  /// The memory of the stage that needs most; absent if that of any stage is unknown.
  std::optional<std::int64_t> most_memory_bytes() const;
};

/// The answer.
struct Prediction {
  std::string model{};
  int batch = 1;
  int stages = 2;
  int depth = 4;
  std::vector<std::string> codecs{};  ///< to choose from
  std::string network{};              ///< its name; empty: as it was probed
  std::optional<double> rate_image_per_s{};
  Corrections corrections{};
  double estimated_within = 0;  ///< the share by which times of runs that were not profiled may be off; 0: all were
  std::vector<std::string> devices{};      ///< names, by the devices' numbers
  std::vector<PredictedSplit> frontier{};  ///< lowest latency first, highest throughput last; of equal splits, one
};

/// The exact frontier over all partitions with each codec, and both ends: everything on the first stage, or on the last
/// one (in any order: everything on one device). The pipeline obeys operational laws, as diagnosis::constraints() has
/// them. The latency is the sum of all stages and links. Batches follow each other at the longest of these times, or at
/// latency / depth if that is more. Stages on the same CPUs of a machine take turns, so their times add up. A stage
/// takes the median of its run's rounds. With a quota of CPU time it takes the mean, because the quota makes some
/// rounds short and others long. Its band reaches from the 10th to the 90th percentile of the rounds. A link takes half
/// a round trip, its delay, and its bytes at its rate; three times its jitter widens the band. Corrections change these
/// times, and widen the bands.
///
/// With a codec the encoded bytes cross a link. A stage encodes in the thread that sends, and decodes in the one that
/// receives. If it has a CPU to spare, it codes while it computes, and the longer of the two keeps the next batch off.
/// Otherwise, and if the CPUs are unknown, their sum does.
///
/// All partitions are tried one by one if a stage's time depends on other stages (shared CPUs, a fitted contention), or
/// if a stage codes while it computes, because its times for the latency and for the period then differ.
///
/// Throws UsageError if the profiles do not go together, if there are not as many devices as stages, if nothing says
/// how fast a link is, if a device was not profiled with a codec, for more than kMostTried partitions that have to be
/// tried one by one, and for networks that lose, reorder or duplicate packets: what TCP makes of that is not predicted.
Prediction predict(const Question& question);

inline constexpr std::uint64_t kMostTried = 2'000'000;

/// Predicts these partitions, on the frontier or not. The devices are in their order and the codecs are those of the
/// cuts, whatever the question says. Throws UsageError for split points that the model or the pipeline does not have.
std::vector<PredictedSplit> predict_splits(const Question& question, const std::vector<experiment::Cut>& cuts);

/// The number of stages of the question's pipeline.
int stages_of(const Question& question);

}  // namespace paretopipe::predict
