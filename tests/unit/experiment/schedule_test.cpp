#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/schedule.hpp>

#include <algorithm>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;

namespace {

std::vector<std::vector<Action>> all_actions(Schedule schedule, const TrainingExtent& extent) {
  std::vector<std::vector<Action>> stages;
  for (int stage = 0; stage < extent.stages; ++stage) stages.push_back(actions_of(schedule, extent, stage));
  return stages;
}

std::string text_of(Schedule schedule, const TrainingExtent& extent, int stage) {
  return to_string(actions_of(schedule, extent, stage));
}

double makespan(const std::vector<std::vector<PlannedAction>>& planned) {
  double end = 0;
  for (const auto& stage : planned) end = std::max(end, stage.back().end_ns);
  return end;
}

}  // namespace

TEST_CASE("a schedule says what a stage does in the notation of torch.distributed.pipelining") {
  CHECK(text_of(Schedule::gpipe, {2, 3, 1}, 0) == "F0 F1 F2 B0 B1 B2 U");
  CHECK(text_of(Schedule::gpipe, {2, 2, 2}, 1) == "F0 F1 B0 B1 U F2 F3 B2 B3 U");
  CHECK(text_of(Schedule::one_f_one_b, {3, 4, 1}, 0) == "F0 F1 F2 B0 F3 B1 B2 B3 U");
  CHECK(text_of(Schedule::one_f_one_b, {3, 4, 1}, 2) == "F0 B0 F1 B1 F2 B2 F3 B3 U");
  CHECK(text_of(Schedule::pipedream, {2, 1, 3}, 0) == "F0 F1 B0 U F2 B1 U B2 U");
  CHECK(text_of(Schedule::pipedream, {2, 1, 3}, 1) == "F0 B0 U F1 B1 U F2 B2 U");
}

TEST_CASE("a backward comes right after its forward in the last stage of all schedules but gpipe") {
  const auto nexts = [](Schedule schedule, int stage) {
    const auto actions = actions_of(schedule, {3, 4, 1}, stage);
    int count = 0;
    for (std::size_t i = 0; i < actions.size(); ++i) count += backward_of(actions, i) == Backward::next;
    return count;
  };
  for (const auto schedule : {Schedule::one_f_one_b, Schedule::pipedream}) {
    CHECK(nexts(schedule, 2) == 4);
    CHECK(nexts(schedule, 1) == 0);
    CHECK(nexts(schedule, 0) == 0);
  }
  CHECK(nexts(Schedule::gpipe, 2) == 0);
  const auto alone = actions_of(Schedule::gpipe, {3, 1, 1}, 0);
  CHECK(backward_of(alone, 0) == Backward::next);
  CHECK(backward_of(alone, 2) == Backward::later);  // an update has none
}

TEST_CASE("replicas add up their gradients before every update, and wait for the slowest to have its own") {
  CHECK(text_of(Schedule::gpipe, {1, 2, 2, 3}, 0) == "F0 F1 B0 B1 R U F2 F3 B2 B3 R U");
  CHECK(text_of(Schedule::one_f_one_b, {1, 2, 1, 2}, 0) == "F0 B0 F1 B1 R U");
  CHECK(text_of(Schedule::pipedream, {1, 2, 1, 2}, 0) == "F0 B0 R U F1 B1 R U");
  const auto actions = actions_of(Schedule::gpipe, {1, 2, 3, 2}, 0);
  CHECK_NOTHROW(check(std::vector{actions, actions}));
  const std::vector<ActionTimes> times{{1, 2, 0.5}, {1, 3, 0.25}};
  const auto planned = play_replicas(actions, times);
  // A step of the slower one is 2 + 6 + 0.25; the faster one has updated later, but that is not the end of the next
  // step.
  CHECK(planned[0][4].begin_ns == 8);
  CHECK(planned[0][4].end_ns == 8);
  CHECK(planned[0].back().end_ns == 3 * 8.25 + 0.25);
  CHECK(planned[1].back().end_ns == 3 * 8.25);
}

TEST_CASE("every schedule can run as a pipeline, with as many micro-batches in flight as it promises") {
  const auto schedule = GENERATE(Schedule::gpipe, Schedule::one_f_one_b, Schedule::pipedream);
  for (int stages = 1; stages <= 6; ++stages) {
    for (int micro_batches = 1; micro_batches <= 9; ++micro_batches) {
      const TrainingExtent extent{stages, micro_batches, 3};
      CAPTURE(to_string(schedule), stages, micro_batches);
      const auto actions = all_actions(schedule, extent);
      CHECK_NOTHROW(check(actions));
      for (int stage = 0; stage < stages; ++stage) {
        const int there_are = schedule == Schedule::pipedream ? extent.total() : micro_batches;
        const int most = schedule == Schedule::gpipe ? micro_batches : std::min(there_are, stages - stage);
        CHECK(most_in_flight(actions[static_cast<std::size_t>(stage)]) == most);
      }
    }
  }
}

TEST_CASE("a schedule that cannot run is refused by what is wrong with it") {
  using Kind = Action::Kind;
  const auto refusal = [](const std::vector<std::vector<Action>>& stages) {
    return support::message_of<Error>([&] { check(stages); });
  };
  const std::vector<Action> one{{Kind::forward, 0}, {Kind::backward, 0}};
  CHECK(refusal({{{Kind::backward, 0}}}) == "the schedule cannot run: stage 0 computes B0 without F");
  CHECK(refusal({{{Kind::forward, 0}}}) == "the schedule cannot run: stage 0 never computes B0");
  CHECK(refusal({{{Kind::forward, 0}, {Kind::forward, 0}}}) == "the schedule cannot run: stage 0 computes F0 twice");
  const std::vector<Action> twice{one[0], one[1], one[0], one[1]};
  CHECK(refusal({twice}) == "the schedule cannot run: stage 0 computes F0 twice");
  CHECK(refusal({{one[0], one[1], one[1]}}) == "the schedule cannot run: stage 0 computes B0 without F");
  const std::vector<Action> ahead{{Kind::forward, 0}, {Kind::forward, 1}, {Kind::backward, 0}, {Kind::backward, 1}};
  CHECK(refusal({one, ahead}) ==
        "the schedule cannot run: stage 1 computes micro-batches in another order than stage 0");
  // Stage 0 waits for the gradient of 0, for which stage 1 wants micro-batch 1 first.
  const std::vector<Action> in_turn{{Kind::forward, 0}, {Kind::backward, 0}, {Kind::forward, 1}, {Kind::backward, 1}};
  CHECK(refusal({in_turn, ahead}) == "the schedule cannot run: its stages wait for each other");
}

TEST_CASE("stages that take equally long have the bubble of the formula, in gpipe and 1f1b alike") {
  const auto schedule = GENERATE(Schedule::gpipe, Schedule::one_f_one_b);
  for (int stages = 1; stages <= 5; ++stages) {
    for (int micro_batches = stages; micro_batches <= 12; ++micro_batches) {
      CAPTURE(to_string(schedule), stages, micro_batches);
      const std::vector<ActionTimes> times(static_cast<std::size_t>(stages), {1, 2, 0});
      const auto planned = play(all_actions(schedule, {stages, micro_batches, 1}), times);
      CHECK(makespan(planned) == 3 * (micro_batches + stages - 1));
    }
  }
}

TEST_CASE("without a flush a pipeline is as fast as its slowest stage, once it is full") {
  const std::vector<ActionTimes> times{{1, 2, 0.5}, {2, 3, 0.5}, {1, 1, 0.5}};
  const auto of = [&](int steps) { return makespan(play(all_actions(Schedule::pipedream, {3, 1, steps}), times)); };
  CHECK(of(40) - of(20) == 20 * 5.5);
}
