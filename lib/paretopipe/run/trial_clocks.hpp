#pragma once
#include <paretopipe/analysis/stats/clock_bounds.hpp>
#include <paretopipe/experiment/trial.hpp>
#include <paretopipe/record/record.hpp>
#include <paretopipe/stage/training_messages.hpp>

#include <optional>
#include <span>
#include <vector>

namespace paretopipe::run {

/// The clocks of the stages that took part in a trial, as far as the frames of its phases tell. Server phases are left
/// out: all of their moments are of stage 0's clock.
class TrialClocks {
 public:
  /// One entry for each stage. Stages whose hosts share a steady clock have one clock. Throws Error(internal) if no
  /// frames passed between stages with different clocks.
  TrialClocks(const experiment::Trial& trial, std::span<const stage::Configured> configured,
              std::span<const stage::RunReport> reports);

  /// The same for the steps of a training. Their frames are activations and gradients. Replicas have none, and the
  /// beginnings and ends of their sums of gradients take their place.
  TrialClocks(std::span<const stage::Configured> configured, std::span<const stage::TrainReport> reports);

  const stats::ClockBounds& of(std::size_t stage) const { return bounds_[stage]; }

  record::ClockRelation relation(std::size_t stage) const;

  /// Why the times of the trial's stages cannot be compared: a clock was stepped or changed its rate. None if they can.
  std::optional<record::Failure> adjusted() const;

 private:
  std::vector<int> adjusted_stages() const;

  std::vector<stats::LinkFrames> links_;
  std::vector<stats::ClockBounds> bounds_;
  bool ring_ = true;
};

}  // namespace paretopipe::run
