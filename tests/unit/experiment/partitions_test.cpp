#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/partitions.hpp>
#include <paretopipe/experiment/plan.hpp>

#include <algorithm>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "model_of.hpp"

using namespace paretopipe;
using namespace paretopipe::experiment;
using support::contains;
using support::message_of;
using Partitions = std::vector<SplitPoints>;

namespace {

Experiment cut_into(int stages, std::vector<std::string> partitions = {}, int most = 0) {
  Experiment experiment;
  experiment.models = {"chain"};
  experiment.stages = stages;
  experiment.partitions = std::move(partitions);
  experiment.max_partitions = most;
  return experiment;
}

}  // namespace

TEST_CASE("without a word, every partition of more than two stages is measured, and both endpoints", "[partitions]") {
  CHECK(partitions_of(cut_into(3), model_of("chain", 4)) == Partitions{{0, 0}, {1, 2}, {1, 3}, {2, 3}, {4, 4}});
  CHECK(partitions_of(cut_into(2, {"all"}), model_of("chain", 3)) == Partitions{{0}, {1}, {2}, {3}});
}

TEST_CASE("named, listed and all partitions are joined, each once", "[partitions]") {
  const auto experiment = cut_into(3, {"2,4", "equal-load", "front-load", "2,4", "0,0"});
  CHECK(partitions_of(experiment, model_of("chain", 6)) == Partitions{{0, 0}, {2, 4}, {3, 5}});
}

TEST_CASE("the baseline of one device is one more partition, where it is not one already; one batch in flight is none",
          "[partitions]") {
  auto experiment = cut_into(3, {"2,4"});
  experiment.baselines = {"sequential"};
  CHECK(partitions_of(experiment, model_of("chain", 6)) == Partitions{{2, 4}});
  experiment.baselines = {"single", "sequential"};
  CHECK(partitions_of(experiment, model_of("chain", 6)) == Partitions{{2, 4}, {6, 6}});
  experiment.partitions = {"6,6", "2,4"};
  CHECK(partitions_of(experiment, model_of("chain", 6)) == Partitions{{2, 4}, {6, 6}});
  auto pair = cut_into(2);
  pair.splits = parse_splits("1,3");
  pair.baselines = {"single"};
  CHECK(partitions_of(pair, model_of("chain", 6)) == Partitions{{1}, {3}, {6}});
}

TEST_CASE("where nobody would measure them all, a choice has to be made", "[partitions]") {
  const auto message = message_of<UsageError>([] { partitions_of(cut_into(8), model_of("chain", 30)); });
  CHECK(contains(message, "1560780 ways"));
  CHECK(contains(message, "--max-partitions"));
  const auto chosen = partitions_of(cut_into(8, {}, 100), model_of("chain", 30));
  CHECK(chosen.size() == 102);
  CHECK(chosen.front() == SplitPoints(7, 0));
  CHECK(chosen.back() == SplitPoints(7, 30));
}

TEST_CASE("what the model does not have is refused", "[partitions]") {
  CHECK(contains(message_of<UsageError>([] { partitions_of(cut_into(3, {"2,7"}), model_of("chain", 6)); }),
                 "split point 7 is outside of chain"));
  for (const auto* choice : {"all", "equal-load"}) {
    CHECK(contains(message_of<UsageError>([&] { partitions_of(cut_into(4, {choice}), model_of("chain", 3)); }),
                   "cannot be cut into 4 stages"));
  }
}

TEST_CASE("equal-time is the partition that was measured, and only it asks for one", "[partitions]") {
  const auto experiment = cut_into(3, {"equal-load", "equal-time"});
  CHECK(wants_equal_time(experiment));
  CHECK_FALSE(wants_equal_time(cut_into(3, {"equal-load"})));
  CHECK(partitions_of(experiment, model_of("chain", 6), {4, 5}) == Partitions{{2, 4}, {4, 5}});
}

TEST_CASE("a plan of several stages visits every partition once a repetition", "[partitions]") {
  auto experiment = cut_into(3);
  experiment.repeat.trials = 2;
  const auto trials = plan_trials(experiment, {model_of("chain", 4)});
  REQUIRE(trials.size() == 10);
  Partitions visited;
  for (const auto& trial : trials) {
    CHECK(trial.stage_count() == 3);
    if (trial.repetition == 1) visited.push_back(trial.split_points);
  }
  std::sort(visited.begin(), visited.end());
  CHECK(visited == partitions_of(experiment, model_of("chain", 4)));
}
