#pragma once
#include <paretopipe/analysis/predict/prediction.hpp>

#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace paretopipe::predict {

/// How a link's time depends on what crosses it.
struct Way {
  double fixed_ns = 0;  ///< does not keep the next batch off
  double jitter_ns = 0;
  double rate_bit_per_s = std::numeric_limits<double>::infinity();

  double busy_ns(std::int64_t bytes) const { return static_cast<double>(bytes) * 8e9 / rate_bit_per_s; }

  /// Bytes do not overtake each other, so those that jitter delays most decide. Three deviations contain them.
  Band latency_ns(std::int64_t bytes) const;
};

/// A device of the pipeline: which file it came from, and the times of its runs with one batch in flight.
struct Candidate {
  const ProfiledDevice* device = nullptr;
  std::pair<std::size_t, int> place{};  ///< its profile, and its number there
  StageTimes fast;
  StageTimes usual;
  StageTimes slow;
  std::vector<Band> encode_ns{};  ///< what crosses each cut, 0 … N; empty without a codec
  std::vector<Band> decode_ns{};
  bool codes_beside = false;  ///< a stage encodes and decodes while it computes, without taking its CPUs
  std::string cpus{};  ///< that its stages take turns on, with others on the same; empty: unknown, or it takes none
  double estimated_within = 0;  ///< of runs that were not profiled, if there are any (LongModel::held_out_error)
};

/// `place`: its profile, and its number there; `position`: among all devices of the question. Throws UsageError for a
/// memory limit where the profile does not say what blocks need.
Candidate candidate_of(const Question& question, std::pair<std::size_t, int> place, std::size_t position);

/// The band of a device's samples, as predict() has it.
Band band_of(const ProfiledDevice& device, const std::vector<std::int64_t>& times_ns);

/// What a run needs. Of one that was not profiled it is what a larger one needs, which is no less.
std::optional<std::int64_t> memory_of(const ProfiledDevice& device, int begin, int end, int blocks);

/// For StageTimes and LinkTimes, within their limits.
std::int64_t whole(double ns);

/// The devices and links that a question is about, and how fast a pipeline of them is with given stages and one codec.
class PipelineModel {
 public:
  /// `question` must outlive the model. Throws what predict() does.
  PipelineModel(const Question& question, const std::string& codec);

  const experiment::ModelDescription& model() const { return model_; }
  int blocks() const { return model_.block_count(); }
  int stages() const { return stages_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }

  /// The stages of a partition, on the devices in their order.
  std::vector<PlacedStage> placed(const std::vector<int>& split_points) const;

  PredictedSplit judge(const std::vector<PlacedStage>& stages) const;

  /// Each device must be able to compute its blocks within this memory, as far as the memory is known.
  bool fits(const std::vector<PlacedStage>& stages) const;

  /// Times of the candidates and links for the search, in a scale in which a stage's time alone is its time with
  /// batches waiting.
  std::vector<StageTimes> stage_times() const;
  std::vector<LinkTimes> link_times() const;

  /// True if no stage's time depends on another stage, and is the same for the latency and the period: the search by
  /// stages is then exact.
  bool separable() const;

 private:
  void check_profiles() const;
  void add_devices();
  void add_codec();
  void check_devices() const;
  void find_ways();
  void find_probed_ways();
  Way shaped_way(const experiment::LinkConditions& conditions) const;
  const ProfiledLink* probed(std::size_t from, std::size_t to) const;
  Band time_of(const PlacedStage& stage) const;
  Band coding_of(const std::vector<PlacedStage>& stages, std::size_t number) const;
  /// What the link from this stage, of so many, carries. Results go back as they are.
  std::int64_t bytes_over(std::size_t number, std::size_t stages, int cut) const;

  const Question& question_;
  std::string codec_;
  const experiment::ModelDescription& model_;
  int stages_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<std::int64_t> encoded_bytes_;  ///< at each cut; empty without a codec
  std::vector<Way> ways_;                    ///< from each stage to the next
};

}  // namespace paretopipe::predict
