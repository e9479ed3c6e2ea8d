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

  /// Bytes do not overtake each other, so the latency is that of those that jitter delays most. Three times the jitter
  /// contains them.
  Band latency_ns(std::int64_t bytes) const;
};

/// A device of the pipeline: the profile that it comes from, and the times of its runs with one batch in flight.
struct Candidate {
  const ProfiledDevice* device = nullptr;
  std::pair<std::size_t, int> place{};  ///< its profile, and its number there
  StageTimes fast;
  StageTimes usual;
  StageTimes slow;
  std::vector<Band> encode_ns{};  ///< what crosses each cut, 0 … N; empty without a codec
  std::vector<Band> decode_ns{};
  bool codes_beside = false;    ///< a stage encodes and decodes while it computes, without taking its CPUs
  std::string cpus{};           ///< its stages and others on these CPUs take turns; empty: unknown, or it takes none
  double estimated_within = 0;  ///< of runs that were not profiled, if there are any (LongModel::held_out_error)
};

/// `place`: the device's profile, and its number there. `position`: its number among all devices of the question.
/// Throws UsageError if memory is limited and the profile does not say what blocks need.
Candidate candidate_of(const Question& question, std::pair<std::size_t, int> place, std::size_t position);

/// Lets candidates of one machine take turns if any of their CPUs are the same.
void join_overlapping(std::vector<Candidate>& candidates);

/// The band of a device's samples, as predict() has it.
Band band_of(const ProfiledDevice& device, const std::vector<std::int64_t>& times_ns);

/// The memory that a run needs. If it was not profiled, that of a larger run, which needs no less.
std::optional<std::int64_t> memory_of(const ProfiledDevice& device, int begin, int end, int blocks);

/// Rounds a time for StageTimes and LinkTimes, and keeps it within their limits.
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

  /// True if each device can compute its blocks within its limit of memory.
  bool fits(const std::vector<PlacedStage>& stages) const;

  /// The times of the candidates and links for the search. Stages keep the profile's times. Links are scaled instead:
  /// their latencies by the inverse of idle_pace, and the times for which they are busy by the inverse of busy_pace.
  std::vector<StageTimes> stage_times() const;
  std::vector<LinkTimes> link_times() const;

  /// True if no stage's time depends on another stage or differs between latency and period. The search by stages is
  /// then exact.
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
  /// The bytes that cross the link from stage `number` of `stages`. Results go back without a codec.
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
