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
  std::string cpus{};  ///< that its stages take turns on, with others on the same; empty: unknown, or it takes none
  double estimated_within = 0;  ///< of runs that were not profiled, if there are any (LongModel::held_out_error)
};

/// The devices and links that a question is about, and how fast a pipeline of them is with given stages.
class PipelineModel {
 public:
  /// `question` must outlive the model. Throws what predict() does.
  explicit PipelineModel(const Question& question);

  const experiment::ModelDescription& model() const { return model_; }
  int blocks() const { return model_.block_count(); }
  int stages() const { return stages_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }

  /// The stages of a partition, on the devices in their order.
  std::vector<PlacedStage> placed(const std::vector<int>& split_points) const;

  PredictedSplit judge(const std::vector<PlacedStage>& stages) const;

  /// Each device must be able to compute its blocks within this memory, as far as the memory is known.
  bool fits(const std::vector<PlacedStage>& stages) const;

  /// Times of the links for the search, in a scale in which a stage's time alone is its time with batches waiting.
  std::vector<LinkTimes> link_times() const;

  /// True if no stage's time depends on another stage: the search by stages is then exact.
  bool separable() const;

 private:
  void check_profiles() const;
  void add_devices();
  void check_devices() const;
  void find_ways();
  void find_probed_ways();
  Way shaped_way(const experiment::LinkConditions& conditions) const;
  const ProfiledLink* probed(std::size_t from, std::size_t to) const;
  Band time_of(const PlacedStage& stage) const;

  const Question& question_;
  const experiment::ModelDescription& model_;
  int stages_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<Way> ways_;  ///< from each stage to the next
};

}  // namespace paretopipe::predict
