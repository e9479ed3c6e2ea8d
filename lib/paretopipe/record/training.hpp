#pragma once
#include <paretopipe/core/training_timeline.hpp>
#include <paretopipe/record/summary.hpp>

#include <vector>

#include <nlohmann/json.hpp>

namespace paretopipe::record {

/// Raw samples of a trial that trains: every micro-batch of every step, including dropped ones, in nanoseconds of stage
/// 0's clock since its first forward began.
struct TrainingSamples {
  int warmup = 0;         ///< steps excluded from statistics
  int micro_batches = 1;  ///< of a step
  std::vector<TrainingTimeline> stages;
  std::vector<double> losses;  ///< of each step: the mean over its batch
  /// Steps before these after which every parameter, buffer and optimiser state was, bit for bit, that of one process
  /// that trains alone.
  int verified_steps = 0;

  bool operator==(const TrainingSamples&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TrainingSamples, warmup, micro_batches, stages, losses, verified_steps)

}  // namespace paretopipe::record
