// The baseline that splits nothing: its trials and their identity.
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/plan.hpp>

#include <algorithm>

#include <support/catch.hpp>

#include "model_of.hpp"

using namespace paretopipe;
using namespace paretopipe::experiment;

namespace {

std::vector<Trial> plan_of(int stages, Shaping shaping = Shaping::none) {
  Experiment experiment;
  experiment.models = {"net"};
  experiment.stages = stages;
  experiment.repeat.trials = 2;
  experiment.baselines = {"single", "data-parallel"};
  return plan_trials(experiment, {model_of("net", 4)}, {.shaping = shaping});
}

std::vector<Trial> dealt(const std::vector<Trial>& trials) {
  std::vector<Trial> found;
  std::copy_if(trials.begin(), trials.end(), std::back_inserter(found),
               [](const Trial& trial) { return trial.data_parallel > 0; });
  return found;
}

}  // namespace

TEST_CASE("data parallelism is one trial a repetition, with the whole model on as many devices as there are stages") {
  const int stages = GENERATE(2, 3, 4);
  const auto trials = plan_of(stages);
  const auto found = dealt(trials);
  REQUIRE(found.size() == 2);
  CHECK(found[0].repetition != found[1].repetition);
  const auto& trial = found.front();
  CHECK(trial.data_parallel == stages);
  CHECK(trial.stage_count() == stages);
  CHECK(trial.split_points.empty());
  CHECK_FALSE(trial.all_local());
  CHECK_FALSE(trial.all_remote());
  const auto blocks = trial.stage_blocks();
  REQUIRE(blocks.size() == static_cast<std::size_t>(stages));
  CHECK(std::all_of(blocks.begin(), blocks.end(), [](auto range) { return range == BlockRange{0, 4}; }));
  CHECK(trial.label().starts_with("net data-parallel on " + std::to_string(stages) + " devices batch 1"));
}

TEST_CASE("data parallelism belongs to the group of the splits with the same settings, and is no one of them") {
  const auto trials = plan_of(3);
  const auto baseline = dealt(trials).front();
  for (const auto& trial : trials) {
    CHECK(trial.group_id() == baseline.group_id());
    CHECK((trial.configuration_id() == baseline.configuration_id()) == (trial.data_parallel > 0));
  }
  CHECK(plan_of(2).front().group_id() != baseline.group_id());
}

TEST_CASE("a data-parallel trial is read back from its JSON, and a split one says nothing of it") {
  for (const auto& trial : plan_of(3)) {
    const nlohmann::json written = trial;
    CHECK(written.contains("data_parallel") == (trial.data_parallel > 0));
    CHECK(written.get<Trial>() == trial);
  }
}

TEST_CASE("a trial that is split and dealt out, or neither, is refused") {
  nlohmann::json written = dealt(plan_of(3)).front();
  using Refused = std::pair<std::vector<int>, int>;
  const auto refused = GENERATE(Refused{{1, 2}, 3}, Refused{{}, 0}, Refused{{}, 1}, Refused{{}, 17}, Refused{{}, -3});
  written["split_points"] = refused.first;
  written["data_parallel"] = refused.second;
  CHECK_THROWS_AS(written.get<Trial>(), UsageError);
}

TEST_CASE("the kernel's links reach one other device only, and more are refused before anything is run") {
  CHECK(dealt(plan_of(2, Shaping::netem)).size() == 2);
  CHECK(dealt(plan_of(3, Shaping::emulated)).size() == 2);
  CHECK_THROWS_WITH(plan_of(3, Shaping::netem),
                    "the baseline data-parallel needs a link from stage 0 to each of 3 devices, and the kernel's "
                    "shaping has them between neighbours only; use --shaping emulated, or two stages");
}
