#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/plan.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <support/catch.hpp>

#include "model_of.hpp"

using namespace paretopipe;
using namespace paretopipe::experiment;

namespace {

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

std::vector<Trial> plan_one(const Experiment& experiment, std::size_t blocks) {
  return plan_trials(experiment, {model_of(experiment.models.at(0), blocks)});
}

Experiment repeated(int trials) {
  Experiment experiment;
  experiment.repeat.trials = trials;
  return experiment;
}

/// Two or three values of everything that a sweep can vary.
Experiment of_all_axes() {
  auto experiment = repeated(4);
  experiment.models = {"a"};
  experiment.threads_per_stage = {2, 1};
  experiment.batch = {4, 6};
  experiment.micro_batches = {2, 4};
  experiment.depth = {8, 1};
  experiment.server.rates = {40, 10};
  experiment.splits = parse_splits("1,2");
  return experiment;
}

Networks two_networks() {
  NetworkProfile slow;
  slow.name = "slow";
  return {{{}, slow}, Shaping::emulated};
}

}  // namespace

TEST_CASE("every repetition visits every split and both endpoints once", "[plan]") {
  const auto trials = plan_one(repeated(3), 5);
  REQUIRE(trials.size() == 18);
  for (int repetition = 0; repetition < 3; ++repetition) {
    CHECK(sorted(order_of(trials, "mobilenet_v2", repetition)) == std::vector<int>{0, 1, 2, 3, 4, 5});
  }
}

TEST_CASE("an archive's trials carry what its description says of the file, and not the classes of other models",
          "[plan]") {
  auto experiment = repeated(1);
  experiment.models = {"alexnet", "x/net.pt"};
  experiment.num_classes = 1000;
  auto archive = model_of("net.pt", 1);
  archive.archive = Archive{.sha256 = "ab12", .input_shape = {3, 4}, .cuts = "all"};
  for (const auto& trial : plan_trials(experiment, {model_of("alexnet", 1), archive})) {
    CHECK(trial.archive == (trial.model == "net.pt" ? archive.archive : std::nullopt));
    CHECK(trial.num_classes == (trial.model == "net.pt" ? Trial{}.num_classes : 1000));
  }
}

TEST_CASE("repetitions follow one another, and so do models", "[plan]") {
  auto experiment = repeated(2);
  experiment.models = {"zebra", "ant"};
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
  const auto trials = plan_one(repeated(2), 9);
  CHECK(order_of(trials, "mobilenet_v2", 0) == std::vector<int>{8, 1, 9, 2, 7, 3, 0, 4, 6, 5});
  CHECK(order_of(trials, "mobilenet_v2", 1) == std::vector<int>{3, 4, 2, 7, 5, 6, 0, 1, 8, 9});
}

TEST_CASE("seeds and repetitions are shuffled apart", "[plan]") {
  auto experiment = repeated(2);
  const auto first = plan_one(experiment, 20);
  experiment.seed = 2;
  const auto second = plan_one(experiment, 20);
  CHECK(order_of(first, "mobilenet_v2", 0) != order_of(first, "mobilenet_v2", 1));
  CHECK(order_of(first, "mobilenet_v2", 0) != order_of(second, "mobilenet_v2", 0));
}

TEST_CASE("more repetitions or models leave the order of the others as it was", "[plan]") {
  auto large = repeated(4);
  large.models = {"resnet18", "mobilenet_v2"};
  const auto alone = plan_one(repeated(1), 12);
  const auto among = plan_trials(large, {model_of("resnet18", 10), model_of("mobilenet_v2", 12)});
  CHECK(order_of(alone, "mobilenet_v2", 0) == order_of(among, "mobilenet_v2", 0));
}

TEST_CASE("the shuffle is unbiased: every order of three comes up equally often", "[plan]") {
  const auto trials = plan_one(repeated(6000), 2);
  std::map<std::vector<int>, int> counts;
  for (std::size_t first = 0; first < trials.size(); first += 3) {
    ++counts[{trials[first].split_points[0], trials[first + 1].split_points[0], trials[first + 2].split_points[0]}];
  }
  REQUIRE(counts.size() == 6);
  // Binomial with 6000 draws at 1/6 has a standard deviation of 29; the draws are fixed, so this never flickers.
  for (const auto& [order, count] : counts) CHECK(std::abs(count - 1000) < 4 * 29);
}

TEST_CASE("chosen splits are planned and no others", "[plan]") {
  auto experiment = repeated(1);
  experiment.splits = parse_splits("0,2-3,5");
  CHECK(sorted(order_of(plan_one(experiment, 5), "mobilenet_v2", 0)) == std::vector<int>{0, 2, 3, 5});
}

TEST_CASE("a split point beyond the model is refused with the model's range", "[plan]") {
  Experiment experiment;
  experiment.splits = parse_splits("2,6");
  CHECK_NOTHROW(plan_one(experiment, 6));
  CHECK_THROWS_AS(plan_one(experiment, 5), UsageError);
  CHECK_THROWS_WITH(plan_one(experiment, 5),
                    "split point 6 is outside of mobilenet_v2: it has split points 0 (all remote) to 5 (all local)");
}

TEST_CASE("a trial carries everything of the experiment that decides the run", "[plan]") {
  auto experiment = repeated(1);
  experiment.models = {"resnet18"};
  experiment.splits = parse_splits("4");
  experiment.num_classes = 100;
  experiment.batch = 2;
  experiment.batches = 3;
  experiment.warmup = 5;
  experiment.depth = 7;
  experiment.seed = 11;
  experiment.data = "random";
  experiment.threads_per_stage = 13;
  experiment.cpus = {"0", "1"};
  experiment.tuning.tune_malloc = false;
  experiment.compute.memory_format = MemoryFormat::channels_last;
  const UncutTrial uncut{.model = "resnet18",
                         .num_classes = 100,
                         .batch = 2,
                         .seed = 11,
                         .data = "random",
                         .threads_per_stage = 13,
                         .cpus = {"0", "1"},
                         .tuning = {.flush_denormals = true, .tune_malloc = false, .passive_openmp_wait = true},
                         .compute = {Compute::optimized, Precision::float32, MemoryFormat::channels_last}};
  CHECK(uncut_trial(experiment, {"resnet18", {}, {}}, Shaping::none, {}) == uncut);
  Trial expected{uncut};
  expected.block_count = 10;
  expected.split_points = {4};
  expected.batches = 3;
  expected.warmup = 5;
  expected.depth = 7;
  CHECK(plan_one(experiment, 10) == std::vector<Trial>{expected});
}

TEST_CASE("the weights that a plan is for are in every trial of it, and make it another one", "[plan]") {
  const auto with_weights = [](const std::string& sha256) {
    return plan_trials(Experiment{}, {model_of("mobilenet_v2", 3)}, {}, {.weights_sha256 = sha256});
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
  const auto with_data = [](const std::string& data, const DataIdentity& identity) {
    Experiment experiment;
    experiment.data = data;
    const auto trials = plan_trials(experiment, {model_of("mobilenet_v2", 3)}, {}, {.data_identity = identity});
    CHECK(std::ranges::all_of(trials, [&](const Trial& trial) { return trial.data_identity == identity; }));
    return trials;
  };
  const auto trials = with_data("images:/home/me/photos", {"ab", "cd"});
  CHECK(trials.front().data == "images:photos");
  CHECK(with_data("images:elsewhere/photos", {"ab", "cd"}) == trials);
  CHECK(with_data("images:/home/me/photos", {"ef", "cd"}).front().id() != trials.front().id());
  CHECK(with_data("images:/home/me/photos", {"ab", ""}).front().id() != trials.front().id());
}

TEST_CASE("a batch that is cut into one micro-batch of its own size is not cut", "[plan]") {
  Experiment unsaid;
  unsaid.models = {"a"};
  unsaid.batch = 8;
  auto whole = unsaid;
  whole.micro_batches = {8};
  CHECK(plan_one(whole, 3) == plan_one(unsaid, 3));
}

TEST_CASE("every repetition visits every combination of the axes once, and in it every split once", "[plan]") {
  const auto experiment = of_all_axes();
  const auto trials = plan_trials(experiment, {model_of("a", 3)}, two_networks());
  // A batch of 6 has no micro-batches of 4, and one of 4 is not cut into one of 4.
  REQUIRE(trials.size() == 4U * 2 * 2 * 3 * 2 * 2 * 2);
  for (int repetition = 0; repetition < 4; ++repetition) {
    std::set<std::string> groups, configurations;
    for (std::size_t i = 0; i < 96; ++i) {
      const auto& trial = trials.at(static_cast<std::size_t>(repetition) * 96 + i);
      REQUIRE(trial.repetition == repetition);
      groups.insert(trial.group_id());
      configurations.insert(trial.configuration_id());
      CHECK(trial.group_id() == trials.at(static_cast<std::size_t>(repetition) * 96 + i / 2 * 2).group_id());
    }
    CHECK(groups.size() == 48);
    CHECK(configurations.size() == 96);
  }
}

TEST_CASE("no network, batch, number of threads or depth is first in every repetition", "[plan]") {
  auto experiment = of_all_axes();
  experiment.repeat.trials = 12;
  const auto trials = plan_trials(experiment, {model_of("a", 3)}, two_networks());
  const auto per_repetition = trials.size() / 12;
  std::map<std::string, int> first;
  std::set<std::vector<std::string>> orders;
  for (std::size_t begin = 0; begin < trials.size(); begin += per_repetition) {
    const auto& trial = trials[begin];
    ++first[trial.network.name];
    ++first["batch " + std::to_string(trial.batch)];
    ++first["threads " + std::to_string(trial.threads_per_stage)];
    ++first["depth " + std::to_string(trial.depth)];
    std::vector<std::string> order;
    for (std::size_t i = begin; i < begin + per_repetition; ++i) order.push_back(trials[i].group_id());
    orders.insert(order);
  }
  REQUIRE(first.size() == 8);
  for (const auto& [name, count] : first) {
    CAPTURE(name);
    CHECK(count >= 2);
    CHECK(count <= 10);
  }
  CHECK(orders.size() == 12);
}

TEST_CASE("what is slow to change is changed least, and the slowest of it not between two repetitions", "[plan]") {
  const auto trials = plan_trials(of_all_axes(), {model_of("a", 3)}, two_networks());
  int threads = 0, networks = 0, batches = 0;
  for (std::size_t i = 1; i < trials.size(); ++i) {
    const auto& before = trials[i - 1];
    const auto& trial = trials[i];
    threads += trial.threads_per_stage != before.threads_per_stage ? 1 : 0;
    networks += trial.network != before.network ? 1 : 0;
    batches += trial.batch != before.batch || trial.micro_batch != before.micro_batch ? 1 : 0;
  }
  // Of each axis all values but the current one, in each of what is slower to change; and but for the slowest, perhaps
  // one more between repetitions.
  CHECK(threads == 4 * 1);
  CHECK(networks >= 4 * 2 * 1);
  CHECK(networks <= 4 * 2 * 1 + 3);
  CHECK(batches >= 4 * 2 * 2 * 2);
  CHECK(batches <= 4 * 2 * 2 * 2 + 3);
}

TEST_CASE("more repetitions leave the order of the combinations as it was, and another seed changes it", "[plan]") {
  auto experiment = of_all_axes();
  const auto few = plan_trials(experiment, {model_of("a", 3)}, two_networks());
  experiment.repeat.trials = 6;
  const auto more = plan_trials(experiment, {model_of("a", 3)}, two_networks());
  CHECK(std::equal(few.begin(), few.end(), more.begin()));
  experiment.seed = 2;
  const auto other = plan_trials(experiment, {model_of("a", 3)}, two_networks());
  const auto order = [](const std::vector<Trial>& trials) {
    std::vector<std::string> names;
    for (const auto& trial : trials) names.push_back(trial.network.name + std::to_string(trial.batch));
    return names;
  };
  CHECK(order(other) != order(more));
}

TEST_CASE("the order of the combinations is the same on every platform and release", "[plan]") {
  auto experiment = repeated(3);
  experiment.models = {"a"};
  experiment.batch = {1, 2, 4, 8, 16};
  experiment.splits = parse_splits("1");
  std::vector<int> batches;
  for (const auto& trial : plan_one(experiment, 3)) batches.push_back(trial.batch);
  CHECK(batches == std::vector<int>{1, 2, 4, 8, 16, 16, 1, 8, 4, 2, 2, 8, 4, 1, 16});
}

TEST_CASE("an axis of one value is the trials that its value is, and more values leave their order as it was",
          "[plan]") {
  Experiment number, list;
  number.batch = 6;
  list.batch = std::vector{6};
  const auto alone = plan_one(number, 4);
  CHECK(alone == plan_one(list, 4));
  list.batch = {3, 6};
  auto both = plan_one(list, 4);
  std::erase_if(both, [](const Trial& trial) { return trial.batch != 6; });
  CHECK(both == alone);
}

TEST_CASE("rates take turns, and a search is one load", "[plan]") {
  auto experiment = repeated(2);
  experiment.models = {"a"};
  experiment.batch = 8;
  experiment.micro_batches = {2, 8};
  experiment.server.rates = {40, 10, 20};
  experiment.server.queries = 9;
  const auto trials = plan_trials(experiment, {model_of("a", 3)});
  REQUIRE(trials.size() == 2 * 3 * 2 * 4);
  for (int repetition = 0; repetition < 2; ++repetition) {
    std::map<double, int> rates;
    for (std::size_t i = 0; i < 24; ++i) {
      const auto& trial = trials[static_cast<std::size_t>(repetition) * 24 + i];
      CHECK(trial.repetition == repetition);
      CHECK(trial.server->queries == 9);
      ++rates[trial.server->rate_image_per_s];
    }
    CHECK(rates == std::map<double, int>{{10, 8}, {20, 8}, {40, 8}});
  }
  experiment.server = {{}, "p99 < 100ms", 9};
  const auto searches = plan_trials(experiment, {model_of("a", 3)});
  CHECK(searches.size() == 2 * 2 * 4);
  CHECK(searches.front().server->bound == parse_latency_bound("p99 < 100ms"));
}

TEST_CASE("the phases of an experiment are those of every trial", "[plan]") {
  Experiment experiment;
  experiment.phases = Phases::single_stream;
  for (const auto& trial : plan_one(experiment, 4)) CHECK(trial.phases == Phases::single_stream);
  // A depth that means nothing makes no other trial.
  auto deep = experiment;
  deep.depth = 64;
  CHECK(plan_one(deep, 4) == plan_one(experiment, 4));
  deep.server.rates = {100};
  CHECK(plan_one(deep, 4).front().depth == 64);
}

TEST_CASE("no two trials of a plan share an identity", "[plan]") {
  std::map<std::string, int> ids;
  for (const auto& trial : plan_one(repeated(10), 30)) ++ids[trial.id()];
  CHECK(ids.size() == 310);
}

TEST_CASE("a description for each model is the caller's duty", "[plan]") {
  CHECK_THROWS_AS(plan_trials(Experiment{}, {}), std::invalid_argument);
}
