#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/schedule.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace paretopipe::experiment {

namespace {

using ActionKind = Action::Kind;
using Stages = std::span<const std::vector<Action>>;

/// One forward and one backward in turn, after as many forwards as there are stages from this one to the last.
/// `update`: what comes after every backward.
void append_in_turn(std::vector<Action>& actions, int first, int count, int ahead,
                    std::span<const ActionKind> update = {}) {
  const int warmup = std::min(count, ahead);
  for (int i = 0; i < warmup; ++i) actions.push_back({ActionKind::forward, first + i});
  for (int i = 0; i < count; ++i) {
    actions.push_back({ActionKind::backward, first + i});
    for (const auto kind : update) actions.push_back({kind, first + i});
    if (i + warmup < count) actions.push_back({ActionKind::forward, first + i + warmup});
  }
}

void append_all_forward(std::vector<Action>& actions, int first, int count) {
  for (int i = 0; i < count; ++i) actions.push_back({ActionKind::forward, first + i});
  for (int i = 0; i < count; ++i) actions.push_back({ActionKind::backward, first + i});
}

/// The order of one kind of action in a stage, which is also that in which its tensors are sent and arrive.
std::vector<int> order_of(const std::vector<Action>& actions, ActionKind kind) {
  std::vector<int> order;
  for (const auto& action : actions) {
    if (action.kind == kind) order.push_back(action.micro_batch);
  }
  return order;
}

[[noreturn]] void refuse_schedule(const std::string& reason) {
  throw Error(ExitCode::internal, fmt::format("the schedule cannot run: {}", reason));
}

/// Checks that a stage computes each micro-batch forward once, and backward once after that.
void check_stage(const std::vector<Action>& actions, std::size_t stage) {
  std::set<int> seen, open;
  for (const auto& [kind, micro_batch] : actions) {
    if (kind == ActionKind::forward) {
      if (!seen.insert(micro_batch).second)
        refuse_schedule(fmt::format("stage {} computes F{} twice", stage, micro_batch));
      open.insert(micro_batch);
    } else if (kind == ActionKind::backward && open.erase(micro_batch) == 0) {
      refuse_schedule(fmt::format("stage {} computes B{} without F", stage, micro_batch));
    }
  }
  if (!open.empty()) refuse_schedule(fmt::format("stage {} never computes B{}", stage, *open.begin()));
}

}  // namespace

std::vector<Action> actions_of(Schedule schedule, const TrainingExtent& extent, int stage) {
  std::vector<Action> actions;
  const int ahead = extent.stages - stage;
  std::vector<ActionKind> update{ActionKind::update};
  if (extent.replicas > 1) update.insert(update.begin(), ActionKind::reduce);
  if (schedule == Schedule::pipedream) {
    append_in_turn(actions, 0, extent.total(), ahead, update);
    return actions;
  }
  for (int step = 0; step < extent.steps; ++step) {
    const int first = step * extent.micro_batches;
    if (schedule == Schedule::gpipe) {
      append_all_forward(actions, first, extent.micro_batches);
    } else {
      append_in_turn(actions, first, extent.micro_batches, ahead);
    }
    for (const auto kind : update) actions.push_back({kind, first + extent.micro_batches - 1});
  }
  return actions;
}

Backward backward_of(std::span<const Action> actions, std::size_t index) {
  const Action backward{ActionKind::backward, actions[index].micro_batch};
  return index + 1 < actions.size() && actions[index + 1] == backward ? Backward::next : Backward::later;
}

int most_in_flight(std::span<const Action> actions) {
  int in_flight = 0, most = 0;
  for (const auto& action : actions) {
    in_flight += action.kind == ActionKind::forward ? 1 : action.kind == ActionKind::backward ? -1 : 0;
    most = std::max(most, in_flight);
  }
  return most;
}

bool for_each_in_order(Stages stages, const std::function<void(std::size_t, std::size_t)>& run) {
  const auto last = stages.size() - 1;
  std::vector<std::size_t> next(stages.size()), forwards(stages.size()), backwards(stages.size());
  const auto can_run = [&](std::size_t stage) {
    const auto kind = stages[stage][next[stage]].kind;
    if (kind == ActionKind::forward) return stage == 0 || forwards[stage] < forwards[stage - 1];
    return kind != ActionKind::backward || stage == last || backwards[stage] < backwards[stage + 1];
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage <= last; ++stage) {
      while (next[stage] < stages[stage].size() && can_run(stage)) {
        const auto kind = stages[stage][next[stage]].kind;
        run(stage, next[stage]);
        forwards[stage] += kind == ActionKind::forward;
        backwards[stage] += kind == ActionKind::backward;
        ++next[stage];
        moved = true;
      }
    }
  }
  for (std::size_t stage = 0; stage <= last; ++stage) {
    if (next[stage] < stages[stage].size()) return false;
  }
  return true;
}

void check(Stages stages) {
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    check_stage(stages[stage], stage);
    for (const auto kind : {ActionKind::forward, ActionKind::backward}) {
      if (order_of(stages[stage], kind) == order_of(stages[0], kind)) continue;
      refuse_schedule(fmt::format("stage {} computes micro-batches in another order than stage 0", stage));
    }
  }
  if (!for_each_in_order(stages, [](std::size_t, std::size_t) {})) refuse_schedule("its stages wait for each other");
}

std::vector<std::vector<Action>> schedule_of(Schedule schedule, const TrainingExtent& extent) {
  std::vector<std::vector<Action>> stages;
  for (int stage = 0; stage < extent.stages; ++stage) stages.push_back(actions_of(schedule, extent, stage));
  check(stages);
  return stages;
}

std::vector<std::vector<PlannedAction>> play(Stages stages, std::span<const ActionTimes> times) {
  std::vector<std::vector<PlannedAction>> planned(stages.size());
  std::vector<double> free(stages.size());
  std::vector<std::vector<double>> forward_ends(stages.size()), backward_ends(stages.size());
  for_each_in_order(stages, [&](std::size_t stage, std::size_t index) {
    const auto kind = stages[stage][index].kind;
    const auto& own = times[stage];
    double begin = free[stage];
    double takes = own.update_ns;
    if (kind == ActionKind::forward) {
      if (stage > 0) begin = std::max(begin, forward_ends[stage - 1][forward_ends[stage].size()]);
      takes = own.forward_ns;
      forward_ends[stage].push_back(begin + takes);
    } else if (kind == ActionKind::backward) {
      if (stage + 1 < stages.size()) begin = std::max(begin, backward_ends[stage + 1][backward_ends[stage].size()]);
      takes = own.backward_ns;
      backward_ends[stage].push_back(begin + takes);
    }
    free[stage] = begin + takes;
    planned[stage].push_back({begin, free[stage]});
  });
  return planned;
}

std::vector<std::vector<PlannedAction>> play_replicas(std::span<const Action> actions,
                                                      std::span<const ActionTimes> times) {
  std::vector<std::vector<PlannedAction>> planned(times.size());
  std::vector<double> free(times.size());
  for (const auto& action : actions) {
    const double together = *std::max_element(free.begin(), free.end());
    for (std::size_t replica = 0; replica < times.size(); ++replica) {
      const auto& own = times[replica];
      const double takes = action.kind == ActionKind::forward    ? own.forward_ns
                           : action.kind == ActionKind::backward ? own.backward_ns
                           : action.kind == ActionKind::update   ? own.update_ns
                                                                 : 0;
      const double begin = action.kind == ActionKind::reduce ? together : free[replica];
      free[replica] = begin + takes;
      planned[replica].push_back({begin, free[replica]});
    }
  }
  return planned;
}

std::string to_string(std::span<const Action> actions) {
  std::string text;
  for (const auto& action : actions) {
    if (!text.empty()) text += ' ';
    if (action.kind == ActionKind::update) {
      text += 'U';
    } else if (action.kind == ActionKind::reduce) {
      text += 'R';
    } else {
      text += fmt::format("{}{}", action.kind == ActionKind::forward ? 'F' : 'B', action.micro_batch);
    }
  }
  return text;
}

}  // namespace paretopipe::experiment
