// Training as an experiment asks for it, and as a trial has it.
#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/plan.hpp>
#include <paretopipe/experiment/settings.hpp>

#include <set>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "model_of.hpp"

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
  auto model = model_of("mobilenet_v2", 2);
  model.batch = 8;
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
  experiment.training = {
      {"1f1b", "pipedream"}, {OptimizerKind::sgd, 0.25, 0.5, 0.125, RateSchedule::cosine, 0.5}, true, true};
  const nlohmann::json written = experiment, usual = Experiment{};
  CHECK(experiment_from_json(written) == experiment);
  for (const auto* key :
       {"task", "schedule", "lr", "lr_schedule", "lr_warmup", "momentum", "weight_decay", "recompute", "loss_sum"}) {
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

TEST_CASE("a training that recomputes is compared with one that keeps its activations, as another way to train") {
  auto experiment = a_training();
  const auto kept = plan_trials(experiment, {a_trained_model()}).front();
  experiment.training.recompute = true;
  const auto recomputed = plan_trials(experiment, {a_trained_model()}).front();
  CHECK(recomputed.group_id() == kept.group_id());
  CHECK(recomputed.without_split() == kept.without_split());
  CHECK(recomputed.way_of_training() == kept.way_of_training() + "+recompute");
  CHECK(recomputed.cut() != kept.cut());
  CHECK(recomputed.configuration_id() != kept.configuration_id());
}

TEST_CASE("learning rates are those of torch.optim.lr_scheduler") {
  // SequentialLR of LinearLR(1 / warm-up, total_iters = warm-up - 1) and LinearLR(1, 0) or CosineAnnealingLR, of ten
  // updates, as PyTorch 1.13 prints them.
  const auto rates = [](RateSchedule schedule, double warmup) {
    std::vector<double> all;
    const Optimizer optimizer{.learning_rate = 0.1, .schedule = schedule, .warmup = warmup};
    for (int update = 0; update < 10; ++update) all.push_back(learning_rate(optimizer, update, 10));
    return all;
  };
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-8));
  };
  expect(rates(RateSchedule::constant, 0), std::vector<double>(10, 0.1));
  expect(rates(RateSchedule::constant, 4), {0.025, 0.05, 0.075, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
  expect(rates(RateSchedule::cosine, 0), {0.1, 0.0975528258, 0.0904508497, 0.0793892626, 0.0654508497, 0.05,
                                          0.0345491503, 0.0206107374, 0.00954915028, 0.00244717419});
  expect(rates(RateSchedule::cosine, 4),
         {0.025, 0.05, 0.075, 0.1, 0.1, 0.0933012702, 0.075, 0.05, 0.025, 0.00669872981});
  expect(rates(RateSchedule::cosine, 1),
         {0.1, 0.1, 0.096984631, 0.0883022222, 0.075, 0.0586824089, 0.0413175911, 0.025, 0.0116977778, 0.00301536896});
  expect(rates(RateSchedule::linear, 0), {0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01});
  expect(rates(RateSchedule::linear, 4),
         {0.025, 0.05, 0.075, 0.1, 0.1, 0.0833333333, 0.0666666667, 0.05, 0.0333333333, 0.0166666667});
  CHECK(rates(RateSchedule::linear, 0.4) == rates(RateSchedule::linear, 4));
  CHECK(rates(RateSchedule::linear, 0.19) == rates(RateSchedule::linear, 1));  // rounded down
  for (const double rate : rates(RateSchedule::cosine, 1000)) CHECK(rate <= 0.1 * 10 / 1000 + 1e-12);
}

TEST_CASE("the schedule of rates, its warm-up and summed losses are part of a trial's identity and of its group") {
  auto experiment = a_training();
  const auto usual = plan_trials(experiment, {a_trained_model()}).front();
  const nlohmann::json written = usual;
  for (const auto* key : {"lr_schedule", "lr_warmup", "loss_sum"}) CHECK_FALSE(written.at("training").contains(key));
  std::set<std::string> ids{usual.id()}, groups{usual.group_id()};
  apply_flags(experiment, {{"lr_schedule", {"cosine"}}, {"lr_warmup", {"10%"}}});
  const auto cosine = plan_trials(experiment, {a_trained_model()}).front();
  CHECK(cosine.training->optimizer.warmup == 0.1);
  CHECK_THROWS_AS(apply_flags(experiment, {{"lr_warmup", {"100%"}}}), UsageError);  // would be one update
  CHECK(contains(describe(*cosine.training), "cosine after 10 % warm-up"));
  experiment.training.loss_sum = true;
  const auto summed = plan_trials(experiment, {a_trained_model()}).front();
  CHECK(summed.training->share_of_loss(4) == 1);
  CHECK(cosine.training->share_of_loss(4) == 0.25);
  for (const auto& trial : {cosine, summed}) {
    ids.insert(trial.id());
    groups.insert(trial.group_id());
    CHECK(nlohmann::json(trial).get<Trial>() == trial);
  }
  CHECK(ids.size() == 3);
  CHECK(groups.size() == 3);
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

TEST_CASE("a training is planned once with every codec of the list, a lossy one too") {
  auto experiment = a_training();
  const auto uncoded = plan_trials(experiment, {a_trained_model()}).size();
  experiment.codecs = {"none", "sort8"};
  CHECK_NOTHROW(validate(experiment));
  CHECK(plan_trials(experiment, {a_trained_model()}).size() == 2 * uncoded);
}

TEST_CASE("what cannot be trained is refused with the reason") {
  CHECK_NOTHROW(validate(a_training()));
  CHECK(contains(refusal([](Experiment& one) { one.compute.compute = Compute::optimized; }), "have no backward"));
  CHECK(contains(refusal([](Experiment& one) { one.compute.dtype = Precision::bfloat16; }), "in float32"));
  CHECK(contains(refusal([](Experiment& one) { one.phases = Phases::offline; }), "leave --scenario out"));
  CHECK(contains(refusal([](Experiment& one) { one.max_flips = 0.01; }), "leave --max-flips out"));
  CHECK(contains(refusal([](Experiment& one) { one.baselines = {"sequential"}; }), "sequential is of inference"));
  CHECK(contains(refusal([](Experiment& one) {
                   one.training.optimizer = {OptimizerKind::adam, 0.1, 0.9, 0};
                 }),
                 "adam has no momentum"));
  CHECK(contains(refusal([](Experiment& one) { one.training.optimizer.learning_rate = -1; }),
                 "experiment.lr is -1; it must be from 0 to 1000"));
  CHECK(contains(refusal([](Experiment& one) { one.task = Task::infer; }), "add --task train"));
}

TEST_CASE("replicas share the micro-batches of every step evenly, over connections that nothing encrypts") {
  const auto replicas = [](auto change) {
    auto experiment = a_training();
    experiment.baselines = {"data-parallel"};
    change(experiment);
    return support::message_of<UsageError>([&] { validate(experiment); });
  };
  auto experiment = a_training();
  experiment.baselines = {"data-parallel", "single"};
  CHECK_NOTHROW(validate(experiment));
  for (const auto& trial : plan_trials(experiment, {a_trained_model()})) {
    CHECK((trial.data_parallel == 2) == trial.split_points.empty());
  }
  experiment.stages = 3;
  experiment.splits = Experiment{}.splits;
  experiment.partitions = {"1,2"};
  experiment.placement = {0, 1, 0};
  CHECK_NOTHROW(validate(experiment));
  const auto planned = plan_trials(experiment, {a_trained_model()});
  for (const auto& trial : planned) {
    CHECK((trial.data_parallel == 2) == trial.split_points.empty());
    CHECK(nlohmann::json(trial).get<Trial>() == trial);
    CHECK(trial.group_id() == planned.front().group_id());
    auto on_named = trial;  // fewer replicas than stages
    on_named.on = {"local", "pi", "local"};
    CHECK(nlohmann::json(on_named).get<Trial>() == on_named);
  }
  experiment.placement = {0, 0, 1};
  CHECK(contains(support::message_of<UsageError>([&] { validate(experiment); }), "which the placement 0,0,1 puts on"));
  CHECK(contains(replicas([](Experiment& one) {
                   one.placement = {0, 0};
                 }),
                 "the placement 0,0 puts all stages on one"));
  CHECK(contains(replicas([](Experiment& one) { one.micro_batches = {8}; }), "which 1 of 8 cannot be"));
  CHECK(contains(replicas([](Experiment& one) { one.micro_batches = {2, 8}; }), "a multiple of 2"));
  CHECK(contains(replicas([](Experiment& one) { one.encryption = Encryption::tls; }), "does not encrypt"));
  CHECK_THROWS_AS(plan_trials(experiment, {a_trained_model()}, {.shaping = Shaping::emulated}), UsageError);
  experiment.on = {"here", "there"};
  for (const auto shaping : {Shaping::emulated, Shaping::netem}) {
    const Networks between{{{}}, shaping};
    CHECK(contains(support::message_of<UsageError>([&] { plan_trials(experiment, {a_trained_model()}, between); }),
                   "no network between devices is put onto"));
  }
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
