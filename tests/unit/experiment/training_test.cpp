// Training as an experiment asks for it, and as a trial has it.
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/experiment/settings.hpp>

#include <set>

#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using support::contains;

namespace {

Experiment a_training() {
  Experiment experiment;
  experiment.task = Task::train;
  experiment.training.schedules = {"gpipe", "1f1b"};
  experiment.batch = 8;
  experiment.micro_batches = {2, 4};
  experiment.repeat.trials = 1;
  experiment.splits = parse_splits("1");
  return experiment;
}

ModelDescription a_trained_model() {
  ModelDescription model;
  model.model = "mobilenet_v2";
  model.batch = 8;
  model.blocks.resize(2);
  return model;
}

std::string refusal(void (*change)(Experiment&)) {
  auto experiment = a_training();
  change(experiment);
  return support::message_of<UsageError>([&] { validate(experiment); });
}

}  // namespace

TEST_CASE("how a model is trained comes back from its JSON as it was, and each key changes something") {
  auto experiment = a_training();
  experiment.training = {{"1f1b", "pipedream"}, {OptimizerKind::sgd, 0.25, 0.5, 0.125}, true};
  const nlohmann::json written = experiment, usual = Experiment{};
  CHECK(experiment_from_json(written) == experiment);
  for (const auto* key : {"task", "schedule", "lr", "momentum", "weight_decay", "recompute"}) {
    CAPTURE(key);
    CHECK(written.at(key) != usual.at(key));
    auto without = written;
    without[key] = usual.at(key);
    if (without["task"] == "train") CHECK(experiment_from_json(without) != experiment);
  }
  experiment.training.optimizer = {OptimizerKind::adamw, 0.25, 0, 0.125};
  CHECK(experiment_from_json(nlohmann::json(experiment)) == experiment);
}

TEST_CASE("every schedule is measured with every micro-batch size, eager, and these are compared with each other") {
  const auto trials = plan_trials(a_training(), {a_trained_model()});
  std::set<std::string> ways, groups, ids;
  for (const auto& trial : trials) {
    CHECK(trial.phases == Phases::training);
    CHECK(trial.compute == ComputeMode{});
    ways.insert(trial.way_of_training());
    groups.insert(trial.group_id());
    ids.insert(trial.id());
    CHECK(nlohmann::json(trial).get<Trial>() == trial);
  }
  CHECK(ways == std::set<std::string>{"gpipe/2", "gpipe/4", "1f1b/2", "1f1b/4"});
  CHECK(groups.size() == 1);
  CHECK(ids.size() == 4);
}

TEST_CASE("a trial that infers keeps the identity from before there was training") {
  const nlohmann::json written = plan_trials(Experiment{}, {a_trained_model()}).front();
  CHECK_FALSE(written.contains("training"));
  CHECK_FALSE(written.contains("phases"));
}

TEST_CASE("a trial whose phases and training contradict each other is refused") {
  auto written = nlohmann::json(plan_trials(a_training(), {a_trained_model()}).front());
  written.erase("phases");
  CHECK_THROWS_AS(written.get<Trial>(), UsageError);
}

TEST_CASE("what cannot be trained is refused with the reason") {
  CHECK_NOTHROW(validate(a_training()));
  CHECK(contains(refusal([](Experiment& one) { one.codecs = {"sort8"}; }), "leave --codec"));
  CHECK(contains(refusal([](Experiment& one) { one.compute.compute = Compute::optimized; }), "have no backward"));
  CHECK(contains(refusal([](Experiment& one) { one.compute.dtype = Precision::bfloat16; }), "in float32"));
  CHECK(contains(refusal([](Experiment& one) { one.phases = Phases::offline; }), "leave --scenario out"));
  CHECK(contains(refusal([](Experiment& one) { one.baselines = {"data-parallel"}; }), "data-parallel"));
  CHECK(contains(refusal([](Experiment& one) {
                   one.training.optimizer = {OptimizerKind::adam, 0.1, 0.9, 0};
                 }),
                 "adam has no momentum"));
  CHECK(contains(refusal([](Experiment& one) { one.training.optimizer.learning_rate = -1; }),
                 "experiment.lr is -1; it must be from 0 to 1000"));
  CHECK(contains(refusal([](Experiment& one) { one.task = Task::infer; }), "add --task train"));
}

TEST_CASE("schedules are a word or a list, each once, and unknown ones are refused with a suggestion") {
  const auto read = [](const char* text) {
    return experiment_from_json(nlohmann::json::parse(text), a_training()).training.schedules;
  };
  const auto said = [&](const char* text) { return support::message_of<UsageError>([&] { read(text); }); };
  CHECK(read(R"({"schedule": "1f1b"})") == std::vector<std::string>{"1f1b"});
  CHECK(read(R"({"schedule": ["1f1b", "gpipe"]})") == std::vector<std::string>{"1f1b", "gpipe"});
  CHECK(contains(said(R"({"schedule": "1f1"})"),
                 "experiment.schedule is \"1f1\"; it must be gpipe or 1f1b or pipedream"));
  CHECK(contains(said(R"({"schedule": ["gpipe", "gpipe"]})"), "holds gpipe twice"));
}
