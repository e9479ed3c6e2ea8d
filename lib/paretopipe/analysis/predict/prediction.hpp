#pragma once
#include <paretopipe/analysis/predict/exact_frontier.hpp>
#include <paretopipe/analysis/predict/profile.hpp>
#include <paretopipe/experiment/network_profile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paretopipe::predict {

/// What would be the fastest ways to cut the model on the devices of these profiles?
struct Question {
  std::vector<Profile> profiles{};  ///< at least one; their devices form the pipeline, in their order
  int stages = 0;                   ///< 0: as many as there are devices
  std::optional<experiment::NetworkProfile> network{};  ///< of every link; none: as the profiles' links were probed
  /// What keeps the network's rate: a real one and netem count frames with their headers, and emulated the bytes of
  /// the stream.
  experiment::Shaping shaping = experiment::Shaping::netem;
  bool any_order = false;                    ///< choose the devices and their order, too
  int depth = 4;                             ///< batches in flight
  std::vector<std::int64_t> memory_bytes{};  ///< that a stage may need, for all devices or for each; empty: any
};

/// A number, and between which it would be if every stage were as fast as its fast rounds, or as slow as its slow ones,
/// and jitter did its least or most.
struct Band {
  double low = 0;
  double value = 0;
  double high = 0;

  bool operator==(const Band&) const = default;
};

/// What bounds the throughput of a predicted split.
struct Bottleneck {
  enum class Kind { stage, link, depth };
  Kind kind = Kind::stage;
  int number = 0;  ///< of the stage, or of the stage that sends

  bool operator==(const Bottleneck&) const = default;
};

struct PredictedSplit {
  std::vector<PlacedStage> stages{};          ///< those without blocks among them
  std::vector<Band> stage_ns{};               ///< what each computes
  std::vector<std::int64_t> payload_bytes{};  ///< that leave each stage; empty if all is local
  Band latency_ns{};                          ///< with one batch in flight
  Band throughput_image_per_s{};
  Bottleneck bottleneck{};

  bool all_local() const { return payload_bytes.empty(); }
  /// As a sweep writes them, one per cut.
  std::vector<int> split_points() const;
};

/// The answer.
struct Prediction {
  std::string model{};
  int batch = 1;
  int stages = 2;
  int depth = 4;
  std::string network{};                   ///< its name; empty: as it was probed
  std::vector<std::string> devices{};      ///< names, by the devices' numbers
  std::vector<PredictedSplit> frontier{};  ///< lowest latency first, highest throughput last; of equal splits, one
};

/// The exact frontier over all partitions, and both ends: everything on the first stage, or on the last one (in any
/// order: everything on one device). The pipeline obeys operational laws, as diagnosis::constraints() has them: latency
/// is the sum of all stages and links, and batches follow each other at the longest of their times, or at
/// latency / depth if that is more. A stage takes the median of its run's rounds, and its band reaches from their 10th
/// to their 90th percentile. A link takes half a round trip, its delay, and its bytes at its rate; its jitter
/// widens the band by three deviations.
///
/// Throws UsageError if the profiles do not go together, if there are not as many devices as stages, if nothing says
/// how fast a link is, and for networks that lose, reorder or duplicate packets: what TCP makes of that is not
/// predicted.
Prediction predict(const Question& question);

/// The same model's word on some partitions, on the frontier or not, by their split points. The devices are in their
/// order, whatever the question says. Throws UsageError for split points that the model or the pipeline does not have.
std::vector<PredictedSplit> predict_splits(const Question& question, const std::vector<std::vector<int>>& splits);

/// The stages of the pipeline that is asked for.
int stages_of(const Question& question);

}  // namespace paretopipe::predict
