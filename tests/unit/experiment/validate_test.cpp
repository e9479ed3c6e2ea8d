#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <functional>
#include <limits>
#include <string>

#include <support/catch.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;

namespace {

/// What validate says of the default experiment with one change; empty where it accepts it.
std::string changed_refusal(const std::function<void(Experiment&)>& change) {
  Experiment experiment;
  change(experiment);
  try {
    validate(experiment);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// What validate says of the default experiment with another value of one field, as a function of that value.
template <class Value>
auto refusal_by(Value Experiment::*field) {
  return [field](Value value) {
    return changed_refusal([&](Experiment& experiment) { experiment.*field = std::move(value); });
  };
}

template <auto Field>
void set(Experiment& experiment, int value) {
  experiment.*Field = value;
}

struct Bound {
  const char* key;
  void (*set)(Experiment&, int);
  int min;
  int max;
};

}  // namespace

TEST_CASE("the defaults are valid", "[validate]") {
  CHECK(changed_refusal([](Experiment&) {}).empty());
}

TEST_CASE("every number is accepted at its bounds and refused beside them, by name and with the range", "[validate]") {
  const auto bound = GENERATE(
      Bound{"num_classes", set<&Experiment::num_classes>, 1, 1'000'000},
      Bound{"batch", set<&Experiment::batch>, 1, 65'536}, Bound{"batches", set<&Experiment::batches>, 2, 50'000},
      Bound{"warmup", set<&Experiment::warmup>, 0, 50'000}, Bound{"depth", set<&Experiment::depth>, 1, 256},
      Bound{"threads_per_stage", set<&Experiment::threads_per_stage>, 1, 1024});
  const auto with = [&](int value) {
    return changed_refusal([&](Experiment& experiment) { bound.set(experiment, value); });
  };
  const auto range = "; it must be from " + std::to_string(bound.min) + " to " + std::to_string(bound.max);
  const auto name = std::string("experiment.") + bound.key;
  CHECK(with(bound.min).empty());
  CHECK(with(bound.max).empty());
  CHECK(with(bound.min - 1) == name + " is " + std::to_string(bound.min - 1) + range);
  CHECK(with(bound.max + 1) == name + " is " + std::to_string(bound.max + 1) + range);
  CHECK_FALSE(with(std::numeric_limits<int>::min()).empty());
}

TEST_CASE("micro-batches divide the batch, each of them once, into no more micro-batches than can be reported",
          "[validate]") {
  const auto refusal_of = [](int batch, std::vector<int> sizes, int batches = 32) {
    return changed_refusal([&](Experiment& experiment) {
      experiment.batch = batch;
      experiment.batches = batches;
      experiment.micro_batches = sizes;
    });
  };
  CHECK(refusal_of(12, {1, 2, 3, 4, 6, 12}).empty());
  CHECK(refusal_of(1, {1}).empty());
  CHECK(refusal_of(12, {8}) == "experiment.micro_batches holds 8, which does not divide the batch of 12");
  CHECK(refusal_of(12, {4, 24}) ==
        "experiment.micro_batches holds 24; a batch of 12 can be cut into micro-batches of 1 to 12");
  CHECK(refusal_of(12, {0}).find("holds 0; a batch of 12") != std::string::npos);
  CHECK(refusal_of(12, {-3}).find("holds -3; a batch of 12") != std::string::npos);
  CHECK(refusal_of(12, {4, 6, 4}) == "experiment.micro_batches holds 4 twice");
  CHECK(refusal_of(65'536, {65'536}, 49'996).empty());
  CHECK(refusal_of(2, {1}, 49'996).empty());
  CHECK(refusal_of(4, {1}, 24'997).find("makes 100004 micro-batches of 25001 batches") != std::string::npos);
  CHECK_FALSE(refusal_of(65'536, {1}, 50'000).empty());
}

TEST_CASE("of several batches each is cut as it can be, and none is left without a trial", "[validate]") {
  const auto refusal_of = [](Axis batch, std::vector<int> sizes) {
    return changed_refusal([&](Experiment& experiment) {
      experiment.batch = batch;
      experiment.batches = 24'997;
      experiment.micro_batches = sizes;
    });
  };
  CHECK(refusal_of({3, 6, 4}, {}).empty());
  CHECK(refusal_of({2, 4}, {2, 4}).empty());
  CHECK(refusal_of({4, 6}, {4, 3, 6}).empty());
  CHECK(refusal_of({4, 6}, {2, 5}) == "experiment.micro_batches holds 5, which divides none of the batches of 4, 6");
  CHECK(refusal_of({4, 6}, {2, 0}) == "experiment.micro_batches holds 0, which divides none of the batches of 4, 6");
  CHECK(refusal_of({4, 9}, {4, 2}) ==
        "experiment.batch holds 9, which can be cut into none of the micro-batches of 4, 2");
  CHECK(refusal_of({1, 2, 3}, {1}).empty());
  CHECK(refusal_of({1, 4}, {1}).find("makes 100004 micro-batches of 25001 batches") != std::string::npos);
  CHECK(refusal_of({4, 2, 4}, {}) == "experiment.batch holds 4 twice");
  CHECK(refusal_of(std::vector<int>{}, {}) == "experiment.batch is empty; name at least one number");
  CHECK(refusal_of({1, 65'537}, {}) == "experiment.batch holds 65537; it must be from 1 to 65536");
}

TEST_CASE("baselines are known ones, each once", "[validate]") {
  const auto with = refusal_by(&Experiment::baselines);
  CHECK(with({"single", "sequential"}).empty());
  CHECK(with({"singel"}) ==
        "experiment.baselines: \"singel\" is not a baseline; it must be single, sequential or data-parallel; did you "
        "mean \"single\"?");
  CHECK(with({"single", "single"}) == "experiment.baselines names \"single\" twice");
  CHECK(with({std::string(1, '\xff')}) == "experiment.baselines is not valid UTF-8");
  CHECK_FALSE(with({""}).empty());
}

TEST_CASE("data parallelism needs two batches for every device, and has no placement and no Server phase",
          "[validate]") {
  Experiment experiment;
  experiment.baselines = {"data-parallel"};
  experiment.stages = 4;
  experiment.batches = 8;
  CHECK_NOTHROW(validate(experiment));
  experiment.batches = 7;
  CHECK_THROWS_WITH(validate(experiment),
                    "experiment.batches is 7, and the baseline data-parallel deals batches out to 4 devices, of which "
                    "each needs two; measure 8 batches");
  experiment.batches = 8;
  experiment.placement = {0, 1, 2, 0};
  CHECK_THROWS_WITH(validate(experiment),
                    "the baseline data-parallel has a device for every stage; leave it or experiment.placement out");
  experiment.placement = {0, 1, 2, 3};
  experiment.server.rates = {10};
  CHECK_THROWS_WITH(validate(experiment),
                    "the baseline data-parallel has no Server phase; leave it out, or use the scenarios offline and "
                    "single-stream");
}

TEST_CASE("what needs a phase that is left out is refused by what it needs", "[validate]") {
  const auto of_phases = [](Phases phases, const std::function<void(Experiment&)>& change) {
    return changed_refusal([&](Experiment& experiment) {
      experiment.phases = phases;
      change(experiment);
    });
  };
  const auto search = [](Experiment& experiment) { experiment.server.find_max_rate = "p99 < 1s"; };
  const auto sequential = [](Experiment& experiment) { experiment.baselines = {"sequential"}; };
  const auto depths = [](Experiment& experiment) { experiment.depth = {1, 4}; };
  const auto loaded_depths = [](Experiment& experiment) {
    experiment.depth = {1, 4};
    experiment.server.rates = {100};
  };
  for (const auto phases : {Phases::both, Phases::single_stream, Phases::offline}) {
    CAPTURE(to_string(phases));
    CHECK(of_phases(phases, [](Experiment&) {}).empty());
    CHECK(of_phases(phases, loaded_depths).empty());
    CHECK(of_phases(phases, search).empty() == (phases != Phases::single_stream));
    CHECK(of_phases(phases, depths).empty() == (phases != Phases::single_stream));
    CHECK(of_phases(phases, sequential).empty() == (phases == Phases::both));
  }
  using paretopipe::support::containing;
  CHECK_THAT(of_phases(Phases::single_stream, search),
             containing("begins at half the throughput that the phase offline"));
  CHECK_THAT(of_phases(Phases::single_stream, depths), containing("one batch in flight at any depth; name one depth"));
  CHECK_THAT(of_phases(Phases::offline, sequential), containing("experiment.phases is \"offline\""));
}

TEST_CASE("the queries of a Server phase are batches that are cut, too", "[validate]") {
  const auto refusal_of = [](int queries, std::vector<double> rates) {
    return changed_refusal([&](Experiment& experiment) {
      experiment.batch = 8;
      experiment.micro_batches = {1};
      experiment.server = {std::move(rates), "", queries};
    });
  };
  CHECK(refusal_of(12'000, {500}).empty());
  CHECK(refusal_of(20'000, {500}).find("makes 160032 micro-batches of 20004 batches") != std::string::npos);
  CHECK(refusal_of(20'000, {}).empty());
  CHECK(refusal_of(1, {500}).find("experiment.server.queries is 1") == 0);
}

TEST_CASE("a file of weights is for one model", "[validate]") {
  const auto with = [](std::vector<std::string> models) {
    return changed_refusal([&](Experiment& experiment) {
      experiment.models = std::move(models);
      experiment.weights = "w.pth";
    });
  };
  CHECK(with({"resnet18"}).empty());
  CHECK(with({"resnet18", "resnet50"}) ==
        "experiment.weights is \"w.pth\", and a file holds the weights of one model; name one model, not 2");
  CHECK(changed_refusal([](Experiment& experiment) { experiment.weights = std::string(1, '\xff'); }) ==
        "experiment.weights is not valid UTF-8");
}

TEST_CASE("repetitions are bounded, and so is what ends an adaptive sweep", "[validate]") {
  const auto with = refusal_by(&Experiment::repeat);
  CHECK(with({.trials = 1}).empty());
  CHECK(with({.trials = 10'000}).empty());
  CHECK(with({.trials = 0}) == "experiment.repeat is 0; it must be from 1 to 10000");
  CHECK(with({.adaptive = true, .precision = 0.999}).empty());
  for (const double precision : {0.0, 1.0, -0.01, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_FALSE(with({.adaptive = true, .precision = precision}).empty());
  }
  CHECK(with({.adaptive = true, .budget_s = -1}) == "experiment.repeat.budget_s is -1; it must be at least 0");
}

TEST_CASE("a trial may take a second or any longer time", "[validate]") {
  const auto with = refusal_by(&Experiment::trial_timeout_s);
  CHECK(with(1).empty());
  CHECK(with(std::numeric_limits<int>::max()).empty());
  CHECK(with(0) == "experiment.trial_timeout_s is 0; it must be at least 1");
}

TEST_CASE("models are named, at least one, and each once", "[validate]") {
  const auto with = refusal_by(&Experiment::models);
  CHECK(with({"a", "b"}).empty());
  CHECK(with({}) == "experiment.models is empty; name at least one model");
  CHECK(with({"a", ""}) == "experiment.models holds an empty name");
  CHECK(with({"a", "b", "a"}) == "experiment.models names \"a\" twice");
}

TEST_CASE("a choice of no split point, or of a negative one, is refused", "[validate]") {
  const auto with = refusal_by(&Experiment::splits);
  CHECK(with({.all = false, .points = {0, 5}}).empty());
  CHECK(with({.all = false, .points = {}}) == "experiment.splits is empty; name at least one split point, or \"all\"");
  CHECK(with({.all = false, .points = {-1, 5}}) == "experiment.splits holds -1; it must be at least 0");
}

TEST_CASE("data is one of the known kinds, with a folder where there can be one", "[validate]") {
  const auto with = refusal_by(&Experiment::data);
  CHECK(with("fashion-mnist").empty());
  CHECK(with("fashion-mnist:/data").empty());
  CHECK(with("cifar10").empty());
  CHECK(with("cifar10:relative/folder:with colon").empty());
  CHECK(with("random").empty());
  CHECK(with("random:7") == "experiment.data is \"random:7\"; random takes no folder");
  CHECK(with("cifar10:") == "experiment.data is \"cifar10:\"; it names no folder");
  CHECK(with("fashion_mnist:/data") ==
        "experiment.data is \"fashion_mnist:/data\"; it must be one of fashion-mnist[:DIR], fashion-mnist-train[:DIR], "
        "cifar10[:DIR], random, images:DIR, tensor:FILE, tokens:FILE; did you mean \"fashion-mnist\"?");
  for (const auto* own : {"images:photos", "tensor:/x.pt", "tokens:a:b"}) CHECK(with(own).empty());
  CHECK(with("images") == "experiment.data is \"images\"; it names no folder: write images:DIR");
  CHECK(with("tensor:") == "experiment.data is \"tensor:\"; it names no file");
  CHECK_FALSE(with("").empty());
  CHECK_FALSE(with(":/data").empty());
  CHECK_FALSE(with("Random").empty());
  CHECK_FALSE(with("imagenet").empty());
}

TEST_CASE("labels are a file, or a data set's own", "[validate]") {
  const auto with = [](const std::string& data, const std::string& labels) {
    return changed_refusal([&](Experiment& experiment) {
      experiment.data = data;
      experiment.labels = labels;
    });
  };
  CHECK(with("fashion-mnist", "own").empty());
  CHECK(with("cifar10:/d", "own").empty());
  CHECK(with("fashion-mnist", "classes.txt").empty());
  CHECK(with("images:photos", "./own").empty());
  CHECK(with("images:photos", "own") ==
        "experiment.data is \"images\", which brings no labels of its own; name a file with the class of each sample, "
        "one a line");
  CHECK(with("random", "classes.txt") ==
        "experiment.data is \"random\", and what is random has no labels; leave them out");
  CHECK(with("images:photos", "caf\xe9") == "experiment.labels is not valid UTF-8");
}

TEST_CASE("CPUs are given for both stages or for none, as lists", "[validate]") {
  const auto with = refusal_by(&Experiment::cpus);
  CHECK(with({}).empty());
  CHECK(with({"0", "0-3,8"}).empty());
  CHECK(with({"0"}) == "experiment.cpus holds 1 list(s); it must hold one for each of the 2 stages, or none");
  CHECK_FALSE(with({"0", "1", "2"}).empty());
  CHECK(with({"0", "all"}) == "experiment.cpus[1]: \"all\" is not a list of CPUs; write it like 0, 0-3 or 0-3,8");
  CHECK_FALSE(with({"", "1"}).empty());
}

TEST_CASE("names that are not UTF-8, as a command line can hold them, are refused", "[validate]") {
  CHECK(changed_refusal([](Experiment& experiment) {
          experiment.models = {"resnet18", "caf\xe9"};
        }) == "experiment.models is not valid UTF-8");
  CHECK(changed_refusal([](Experiment& experiment) { experiment.data = "cifar10:/caf\xe9"; }) ==
        "experiment.data is not valid UTF-8");
  CHECK(changed_refusal([](Experiment& experiment) { experiment.data = "cifar10:/caf\xc3\xa9"; }).empty());
}

TEST_CASE("networks are known profiles or files, each once, and shaping is not forbidden where they need it",
          "[validate]") {
  const auto with = [](std::vector<std::string> networks, std::string shaping) {
    return changed_refusal([&](Experiment& experiment) {
      experiment.networks = std::move(networks);
      experiment.shaping = std::move(shaping);
    });
  };
  CHECK(with({"unshaped", "wifi"}, "auto").empty());
  CHECK(with({"wifi"}, "netem").empty());
  CHECK(with({"unshaped"}, "none").empty());
  CHECK(with({}, "auto") == "experiment.networks is empty; name at least one network profile");
  CHECK(with({"wifi", "wifi"}, "auto") == "experiment.networks names \"wifi\" twice");
  CHECK(with({"wify"}, "auto").find("did you mean \"wifi\"?") != std::string::npos);
  CHECK(with({"no/such/file.json"}, "auto").find("no/such/file.json") != std::string::npos);
  CHECK(with({"wifi"}, "none") == "experiment.shaping is \"none\", but the network profile wifi asks for shaping");
  CHECK(with({"wifi"}, "emulate").find("did you mean \"emulated\"?") != std::string::npos);
}
