#include <paretopipe/core/error.hpp>
#include <paretopipe/plan/plan.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::plan;

namespace {

config::ModelDescription model_of(const std::string& name, std::size_t blocks) {
  config::ModelDescription model;
  model.model = name;
  model.blocks.resize(blocks);
  return model;
}

/// The split points of the trials of one model and repetition, in the order of the plan.
std::vector<int> order_of(const std::vector<Trial>& trials, const std::string& model, int repetition) {
  std::vector<int> order;
  for (const auto& trial : trials) {
    if (trial.model == model && trial.repetition == repetition) order.push_back(trial.split_points.at(0));
  }
  return order;
}

std::vector<int> sorted(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<Trial> plan_one(const config::Experiment& experiment, std::size_t blocks) {
  return plan_trials(experiment, {model_of(experiment.models.at(0), blocks)});
}

}  // namespace

TEST_CASE("every repetition visits every split and both endpoints once", "[plan]") {
  config::Experiment experiment;
  experiment.repeat.trials = 3;
  const auto trials = plan_one(experiment, 5);
  REQUIRE(trials.size() == 18);
  for (int repetition = 0; repetition < 3; ++repetition) {
    CHECK(sorted(order_of(trials, "mobilenet_v2", repetition)) == std::vector<int>{0, 1, 2, 3, 4, 5});
  }
}

TEST_CASE("an archive's trials carry what its description says of the file, and not the classes of other models",
          "[plan]") {
  config::Experiment experiment;
  experiment.models = {"alexnet", "x/net.pt"};
  experiment.num_classes = 1000;
  experiment.repeat.trials = 1;
  auto archive = model_of("net.pt", 1);
  archive.archive = config::Archive{.sha256 = "ab12", .input_shape = {3, 4}, .cuts = "all"};
  for (const auto& trial : plan_trials(experiment, {model_of("alexnet", 1), archive})) {
    CHECK(trial.archive == (trial.model == "net.pt" ? archive.archive : std::nullopt));
    CHECK(trial.num_classes == (trial.model == "net.pt" ? Trial{}.num_classes : 1000));
  }
}

TEST_CASE("repetitions follow one another, and so do models", "[plan]") {
  config::Experiment experiment;
  experiment.models = {"zebra", "ant"};
  experiment.repeat.trials = 2;
  const auto trials = plan_trials(experiment, {model_of("zebra", 3), model_of("ant", 2)});
  std::vector<std::pair<std::string, int>> groups;
  for (const auto& trial : trials) {
    const std::pair<std::string, int> group{trial.model, trial.repetition};
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  }
  CHECK(groups == std::vector<std::pair<std::string, int>>{{"zebra", 0}, {"zebra", 1}, {"ant", 0}, {"ant", 1}});
}

TEST_CASE("the shuffled order is the same on every platform and release", "[plan]") {
  // Constants: an experiment that is resumed, or repeated elsewhere, must run in the order that its seed stands for.
  config::Experiment experiment;
  experiment.repeat.trials = 2;
  const auto trials = plan_one(experiment, 9);
  CHECK(order_of(trials, "mobilenet_v2", 0) == std::vector<int>{8, 1, 9, 2, 7, 3, 0, 4, 6, 5});
  CHECK(order_of(trials, "mobilenet_v2", 1) == std::vector<int>{3, 4, 2, 7, 5, 6, 0, 1, 8, 9});
}

TEST_CASE("seeds and repetitions are shuffled apart", "[plan]") {
  config::Experiment experiment;
  experiment.repeat.trials = 2;
  const auto first = plan_one(experiment, 20);
  experiment.seed = 2;
  const auto second = plan_one(experiment, 20);
  CHECK(order_of(first, "mobilenet_v2", 0) != order_of(first, "mobilenet_v2", 1));
  CHECK(order_of(first, "mobilenet_v2", 0) != order_of(second, "mobilenet_v2", 0));
}

TEST_CASE("more repetitions or models leave the order of the others as it was", "[plan]") {
  config::Experiment small;
  small.repeat.trials = 1;
  config::Experiment large;
  large.models = {"resnet18", "mobilenet_v2"};
  large.repeat.trials = 4;
  const auto alone = plan_one(small, 12);
  const auto among = plan_trials(large, {model_of("resnet18", 10), model_of("mobilenet_v2", 12)});
  CHECK(order_of(alone, "mobilenet_v2", 0) == order_of(among, "mobilenet_v2", 0));
}

TEST_CASE("the shuffle is unbiased: every order of three comes up equally often", "[plan]") {
  config::Experiment experiment;
  experiment.repeat.trials = 6000;
  const auto trials = plan_one(experiment, 2);
  std::map<std::vector<int>, int> counts;
  for (std::size_t first = 0; first < trials.size(); first += 3) {
    ++counts[{trials[first].split_points[0], trials[first + 1].split_points[0], trials[first + 2].split_points[0]}];
  }
  REQUIRE(counts.size() == 6);
  // Binomial with 6000 draws at 1/6 has a standard deviation of 29; the draws are fixed, so this never flickers.
  for (const auto& [order, count] : counts) CHECK(std::abs(count - 1000) < 4 * 29);
}

TEST_CASE("chosen splits are planned and no others", "[plan]") {
  config::Experiment experiment;
  experiment.splits = config::parse_splits("0,2-3,5");
  experiment.repeat.trials = 1;
  CHECK(sorted(order_of(plan_one(experiment, 5), "mobilenet_v2", 0)) == std::vector<int>{0, 2, 3, 5});
}

TEST_CASE("a split point beyond the model is refused with the model's range", "[plan]") {
  config::Experiment experiment;
  experiment.splits = config::parse_splits("2,6");
  CHECK_NOTHROW(plan_one(experiment, 6));
  CHECK_THROWS_AS(plan_one(experiment, 5), UsageError);
  CHECK_THROWS_WITH(plan_one(experiment, 5),
                    "split point 6 is outside of mobilenet_v2: it has split points 0 (all remote) to 5 (all local)");
}

TEST_CASE("a trial carries everything of the experiment that decides the run", "[plan]") {
  config::Experiment experiment;
  experiment.models = {"resnet18"};
  experiment.splits = config::parse_splits("4");
  experiment.num_classes = 100;
  experiment.batch = 2;
  experiment.batches = 3;
  experiment.warmup = 5;
  experiment.repeat.trials = 1;
  experiment.depth = 7;
  experiment.seed = 11;
  experiment.data = "random";
  experiment.threads_per_stage = 13;
  experiment.cpus = {"0", "1"};
  experiment.tuning.tune_malloc = false;
  experiment.compute.memory_format = config::MemoryFormat::channels_last;
  const Trial expected{
      .model = "resnet18",
      .num_classes = 100,
      .block_count = 10,
      .split_points = {4},
      .batch = 2,
      .batches = 3,
      .warmup = 5,
      .depth = 7,
      .repetition = 0,
      .seed = 11,
      .data = "random",
      .threads_per_stage = 13,
      .cpus = {"0", "1"},
      .tuning = {.flush_denormals = true, .tune_malloc = false, .passive_openmp_wait = true},
      .compute = {config::Compute::optimized, config::Precision::float32, config::MemoryFormat::channels_last},
      .network = {},
      .shaping = config::Shaping::none};
  CHECK(plan_one(experiment, 10) == std::vector<Trial>{expected});
}

TEST_CASE("the weights that a plan is for are in every trial of it, and make it another one", "[plan]") {
  const auto with_weights = [](const std::string& sha256) {
    return plan_trials(config::Experiment{}, {model_of("mobilenet_v2", 3)}, {}, {.weights_sha256 = sha256});
  };
  const auto trials = with_weights("ab");
  const auto others = with_weights("cd");
  REQUIRE(trials.size() == others.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    CHECK(trials[i].weights_sha256 == "ab");
    CHECK(trials[i].split_points == others[i].split_points);
    CHECK(trials[i].id() != others[i].id());
  }
}

TEST_CASE("a person's own data are in every trial by their last name and their content, not by their place", "[plan]") {
  const auto with_data = [](const std::string& data, const config::DataIdentity& identity) {
    config::Experiment experiment;
    experiment.data = data;
    const auto trials = plan_trials(experiment, {model_of("mobilenet_v2", 3)}, {},
                                    {.weights_sha256 = {}, .block_times = {}, .data_identity = identity});
    CHECK(std::ranges::all_of(trials, [&](const Trial& trial) { return trial.data_identity == identity; }));
    return trials;
  };
  const auto trials = with_data("images:/home/me/photos", {"ab", "cd"});
  CHECK(trials.front().data == "images:photos");
  CHECK(with_data("images:elsewhere/photos", {"ab", "cd"}) == trials);
  CHECK(with_data("images:/home/me/photos", {"ef", "cd"}).front().id() != trials.front().id());
  CHECK(with_data("images:/home/me/photos", {"ab", ""}).front().id() != trials.front().id());
}

TEST_CASE("sizes of chunks follow one another within a network, and the batch itself is no chunk", "[plan]") {
  config::Experiment experiment;
  experiment.models = {"a"};
  experiment.batch = 8;
  experiment.micro_batches = {2, 8, 4};
  experiment.repeat.trials = 2;
  config::NetworkProfile slow;
  slow.name = "slow";
  const auto trials = plan_trials(experiment, {model_of("a", 3)}, {{{}, slow}, config::Shaping::emulated});
  REQUIRE(trials.size() == 2 * 3 * 2 * 4);
  const std::vector<int> sizes{2, 0, 4};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    CAPTURE(i);
    CHECK(trials[i].network.name == (i < 24 ? "unshaped" : "slow"));
    CHECK(trials[i].micro_batch == sizes[i / 8 % 3]);
    CHECK(trials[i].repetition == static_cast<int>(i / 4 % 2));
    CHECK(trials[i].split_points == trials[i % 8].split_points);
  }
  auto whole = experiment;
  whole.micro_batches = {8};
  auto unsaid = experiment;
  unsaid.micro_batches.clear();
  CHECK(plan_trials(whole, {model_of("a", 3)}) == plan_trials(unsaid, {model_of("a", 3)}));
}

TEST_CASE("every combination of threads, batches, chunks and depths is planned, depths fastest", "[plan]") {
  config::Experiment experiment;
  experiment.models = {"a"};
  experiment.threads_per_stage = {2, 1};
  experiment.batch = {4, 6};
  experiment.micro_batches = {2, 4};
  experiment.depth = {8, 1};
  experiment.repeat.trials = 1;
  experiment.splits = config::parse_splits("1,2");
  std::vector<std::vector<int>> settings;
  std::set<std::string> groups;
  for (const auto& trial : plan_one(experiment, 3)) {
    groups.insert(trial.group_id());
    const std::vector<int> setting{trial.threads_per_stage, trial.batch, trial.micro_batch, trial.depth};
    if (settings.empty() || settings.back() != setting) settings.push_back(setting);
  }
  // A batch of 6 has no chunks of 4, and one of 4 is not cut into one of 4.
  CHECK(settings == std::vector<std::vector<int>>{{2, 4, 2, 8},
                                                  {2, 4, 2, 1},
                                                  {2, 4, 0, 8},
                                                  {2, 4, 0, 1},
                                                  {2, 6, 2, 8},
                                                  {2, 6, 2, 1},
                                                  {1, 4, 2, 8},
                                                  {1, 4, 2, 1},
                                                  {1, 4, 0, 8},
                                                  {1, 4, 0, 1},
                                                  {1, 6, 2, 8},
                                                  {1, 6, 2, 1}});
  CHECK(groups.size() == 12);
}

TEST_CASE("an axis of one value is the trials that its value is", "[plan]") {
  config::Experiment number, list;
  number.batch = 6;
  list.batch = std::vector{6};
  CHECK(plan_one(number, 4) == plan_one(list, 4));
  list.batch = {3, 6};
  const auto both = plan_one(list, 4);
  const auto alone = plan_one(number, 4);
  CHECK(std::vector(both.end() - static_cast<std::ptrdiff_t>(alone.size()), both.end()) == alone);
}

TEST_CASE("rates follow one another within a size of chunks, and a search is one load", "[plan]") {
  config::Experiment experiment;
  experiment.models = {"a"};
  experiment.batch = 8;
  experiment.micro_batches = {2, 8};
  experiment.repeat.trials = 2;
  experiment.server.rates = {40, 10, 20};
  experiment.server.queries = 9;
  const auto trials = plan_trials(experiment, {model_of("a", 3)});
  REQUIRE(trials.size() == 2 * 3 * 2 * 4);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    CAPTURE(i);
    CHECK(trials[i].micro_batch == (i < 24 ? 2 : 0));
    CHECK(trials[i].server == config::ServerLoad{experiment.server.rates[i / 8 % 3], std::nullopt, 9});
    CHECK(trials[i].repetition == static_cast<int>(i / 4 % 2));
    CHECK(trials[i].split_points == trials[i % 8].split_points);
  }
  experiment.server = {{}, "p99 < 100ms", 9};
  const auto searches = plan_trials(experiment, {model_of("a", 3)});
  CHECK(searches.size() == 2 * 2 * 4);
  CHECK(searches.front().server->bound == config::parse_latency_bound("p99 < 100ms"));
}

TEST_CASE("no two trials of a plan share an identity", "[plan]") {
  config::Experiment experiment;
  experiment.repeat.trials = 10;
  std::map<std::string, int> ids;
  for (const auto& trial : plan_one(experiment, 30)) ++ids[trial.id()];
  CHECK(ids.size() == 310);
}

TEST_CASE("a description for each model is the caller's duty", "[plan]") {
  CHECK_THROWS_AS(plan_trials(config::Experiment{}, {}), std::invalid_argument);
}
