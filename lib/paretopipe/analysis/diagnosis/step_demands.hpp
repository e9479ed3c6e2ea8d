#pragma once
#include <paretopipe/record/record.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace paretopipe::diagnosis {

/// Where a step of training spends its time: medians over repetitions.
struct StepDemands {
  double sample_per_s = 0;
  double bound_sample_per_s = 0;            ///< that of the schedule, if nothing took time but computing
  int batch = 1;                            ///< samples of a step
  std::vector<record::StepParts> stages{};  ///< of a step
  double bubble = 0;
  double expected_bubble = 0;

  double interval_ns() const { return 1e9 * batch / sample_per_s; }     ///< from the end of a step to that of the next
  double bound_ns() const { return 1e9 * batch / bound_sample_per_s; }  ///< the same at the bound

  /// The stage that computes longest, and for how long in each step.
  std::size_t busiest() const;
  double busy_ns(std::size_t stage) const;

  /// What the schedule adds to that: the time in which the pipeline fills and drains, or its stages wait for each
  /// other.
  double filling_ns() const;

  /// What is left of the interval: transfers that nothing hides, and whatever else the bound leaves out.
  double beyond_ns() const;
};

/// Of records that trained alike, one at least.
StepDemands step_demands(std::span<const record::TrialRecord* const> records);

}  // namespace paretopipe::diagnosis
