#pragma once
#include <paretopipe/experiment/training.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace paretopipe::experiment {

/// One thing that a stage's computing thread does: the forward or backward of a micro-batch, the sum of the gradients
/// of all replicas, or an update of the stage's weights with the gradients gathered since the last one.
struct Action {
  enum class Kind { forward, backward, reduce, update };

  Kind kind = Kind::forward;
  int micro_batch = 0;  ///< from 0 through all steps; of a sum or an update, the last one whose gradient enters

  bool operator==(const Action&) const = default;
};

/// How many micro-batches a pipeline or a replica trains on: `steps` batches of `micro_batches` each.
struct TrainingExtent {
  int stages = 1;
  int micro_batches = 1;
  int steps = 1;
  int replicas = 1;  ///< of the whole model, each in one stage, which computes that many micro-batches of a step

  int total() const { return micro_batches * steps; }
};

/// What stage `stage` does, in order, from the first step to the last. Pure. With `gpipe` and `1f1b` a step ends with
/// one update; with `pipedream` there is one after every backward, and the pipeline drains after the last step only.
/// Replicas add up their gradients before every update.
std::vector<Action> actions_of(Schedule schedule, const TrainingExtent& extent, int stage);

/// When a stage computes the backward of a micro-batch: right after its forward, or after something else.
enum class Backward { next, later };

/// The answer for the forward at `index`.
Backward backward_of(std::span<const Action> actions, std::size_t index);

/// The most micro-batches whose forward was computed and whose backward was not, at any time.
int most_in_flight(std::span<const Action> actions);

/// Throws Error(internal), with a sentence, unless these actions of each stage can run as a pipeline: every stage
/// computes each micro-batch forward and then backward once, all stages in the same order, and none waits for another
/// that waits for it. Tensors are taken to arrive in the order in which they are sent.
void check(std::span<const std::vector<Action>> stages);

/// What each stage does, checked by check().
std::vector<std::vector<Action>> schedule_of(Schedule schedule, const TrainingExtent& extent);

/// Calls `run` with the stage and the index of every action, in an order that a pipeline could have: each action comes
/// after those that make its input. Returns false if stages wait for each other; `run` was then called for a part only.
bool for_each_in_order(std::span<const std::vector<Action>> stages,
                       const std::function<void(std::size_t stage, std::size_t action)>& run);

/// How long a stage computes for each kind of action.
struct ActionTimes {
  double forward_ns = 0;
  double backward_ns = 0;
  double update_ns = 0;  ///< sums of gradients take no time
};

/// When each action of each stage begins and ends, in nanoseconds since the first, if every action begins once its
/// stage is free and its input exists and nothing takes time but computing.
struct PlannedAction {
  double begin_ns = 0;
  double end_ns = 0;
};
std::vector<std::vector<PlannedAction>> play(std::span<const std::vector<Action>> stages,
                                             std::span<const ActionTimes> times);

/// The same for replicas, which all do the same actions and wait for each other with every sum of gradients.
std::vector<std::vector<PlannedAction>> play_replicas(std::span<const Action> actions,
                                                      std::span<const ActionTimes> times);

/// "F0 F1 B0 F2 B1 B2 R U", in the notation of torch.distributed.pipelining, with R for a sum of gradients and U for an
/// update.
std::string to_string(std::span<const Action> actions);

}  // namespace paretopipe::experiment
