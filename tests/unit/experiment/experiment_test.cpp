#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <support/catch.hpp>
#include <support/message_of.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
using nlohmann::json;

namespace {

/// Every field differs from its default, but for those of partitions, which rule split points out, and of archives,
/// which hold their own weights.
Experiment unusual_experiment() {
  return {.models = {"resnet18"},
          .splits = {.all = false, .points = {0, 2, 3}},
          .codecs = {"none", "channel8+zstd"},
          .codec_inputs = {"uint8"},
          .max_flips = 0.25,
          .num_classes = 1000,
          .baselines = {"single"},
          .batch = {8, 2},
          .micro_batches = {1},
          .batches = 100,
          .warmup = 0,
          .repeat = {.adaptive = true, .trials = 30, .precision = 0.01, .budget_s = 60},
          .depth = {2, 1, 8},
          .seed = 18446744073709551615u,
          .data = "cifar10:/data/cifar",
          .labels = "own",
          .weights = "resnet18.safetensors",
          .threads_per_stage = {2, 4},
          .cpus = {"0-1", "2,3"},
          .tuning = {.flush_denormals = false, .tune_malloc = false, .passive_openmp_wait = false},
          .compute = {Compute::eager, Precision::bfloat16, MemoryFormat::channels_last},
          .compute_devices = {"cpu", "cuda:1"},
          .networks = {"wifi", "lte"},
          .shaping = "emulated",
          .repeat_slow = 0,
          .trial_timeout_s = 60,
          .rest_s = 5,
          .phases = Phases::offline,
          .server = {.rates = {20, 2.5}, .find_max_rate = "", .queries = 50},
          .on = {"pi", "local"},
          .devices_file = "devices.json",
          .encryption = Encryption::tls,
          .placement = {0, 1},
          .device_profiles = {"pi", "none"}};
}

std::string experiment_refusal(const std::string& text) {
  return support::message_of<UsageError>([&] { experiment_from_json(json::parse(text)); });
}

}  // namespace

TEST_CASE("an experiment comes back from its JSON as it was", "[experiment]") {
  CHECK(experiment_from_json(json(unusual_experiment())) == unusual_experiment());
  CHECK(experiment_from_json(json(Experiment{})) == Experiment{});
  Experiment archive;
  archive.models = {"./net.pt"};
  archive.input = "3x32x32";
  archive.cuts = "layer*";
  archive.max_crossing = 2;
  CHECK(experiment_from_json(json(archive)) == archive);
}

TEST_CASE("repetitions are a number, auto, or auto with other bounds", "[experiment]") {
  const auto repeat = [](const char* text) { return experiment_from_json(json::parse(text)).repeat; };
  CHECK(repeat(R"({"repeat": 7})") == Repeat{.adaptive = false, .trials = 7});
  CHECK(repeat(R"({"repeat": "auto"})") == Repeat{.adaptive = true, .trials = 20});
  CHECK(repeat(R"({"repeat": {}})") == Repeat{.adaptive = true, .trials = 20});
  CHECK(repeat(R"({"repeat": {"precision": 0.01, "budget_s": 9}})") ==
        Repeat{.adaptive = true, .trials = 20, .precision = 0.01, .budget_s = 9});
  CHECK(experiment_refusal(R"({"repeat": "Auto"})").find("a number of trials, \"auto\"") != std::string::npos);
  CHECK(experiment_refusal(R"({"repeat": 2.5})").find("experiment.repeat is 2.5") == 0);
  CHECK(experiment_refusal(R"({"repeat": 3000000000})") == "experiment.repeat has the wrong type or range: 3000000000");
  CHECK(experiment_refusal(R"({"repeat": {"precison": 0.1}})")
            .find("experiment.repeat has an unknown key \"precison\"") == 0);
}

TEST_CASE("every field of an experiment has a key, and every key changes something", "[experiment]") {
  const auto usual = json(Experiment{});
  const auto unusual = json(unusual_experiment());
  REQUIRE(usual.size() == 52);
  const std::set<std::string> elsewhere{
      "stages",      "partitions", "max_partitions",  // partition_test.cpp
      "input",       "cuts",       "max_crossing",    // archive_test.cpp: none without an archive
      "task",        "schedule",   "optimizer",      "lr",      "momentum", "weight_decay",
      "lr_schedule", "lr_warmup",  "recompute",      "loss_sum"};  // training_test.cpp: none without that task
  for (const auto& item : unusual.items()) {
    if (elsewhere.contains(item.key())) continue;
    CAPTURE(item.key());
    CHECK(usual.at(item.key()) != item.value());
    CHECK(experiment_from_json({{item.key(), item.value()}}) != Experiment{});
  }
}

TEST_CASE("batch, depth and threads are a number, or a list whose order stays", "[experiment]") {
  const auto read = [](const char* text) { return experiment_from_json(json::parse(text)); };
  CHECK(read(R"({"batch": [4, 1, 2]})").batch == Axis{4, 1, 2});
  CHECK(read(R"({"batch": [4]})").batch == Axis(4));
  CHECK(read(R"({"depth": [1, 8]})").depth == Axis{1, 8});
  CHECK(read(R"({"threads_per_stage": [2, 1]})").threads_per_stage == Axis{2, 1});
  CHECK(json(read(R"({"batch": [4]})")).at("batch") == 4);
  CHECK(json(read(R"({"batch": [4, 1]})")).at("batch") == json::array({4, 1}));
}

TEST_CASE("phases are both, or one by its name", "[experiment]") {
  CHECK(experiment_from_json(json::object()).phases == Phases::both);
  CHECK(experiment_from_json({{"phases", "single-stream"}}).phases == Phases::single_stream);
  CHECK(experiment_refusal(R"({"phases": "ofline"})") ==
        "experiment.phases is \"ofline\"; it must be both or single-stream or offline; did you mean \"offline\"?");
  CHECK(experiment_refusal(R"({"phases": ["offline"]})") ==
        "experiment.phases has the wrong type or range: [\"offline\"]");
}

TEST_CASE("lists of what is no whole number are refused by their item", "[experiment]") {
  for (const auto* item : {"\"8\"", "8.0", "true", "null", "[8]", "{}", "4294967297"}) {
    CHECK(experiment_refusal(fmt::format(R"({{"batch": [1, {}]}})", item)) ==
          fmt::format("experiment.batch has the wrong type or range: {}", item));
  }
  for (const auto* list : {R"({"micro_batches": [2.9]})", R"({"micro_batches": [4294967298]})",
                           R"({"placement": [0, true]})", R"({"server": {"rates": [true]}})"}) {
    CAPTURE(list);
    CHECK(experiment_refusal(list).find("has the wrong type or range: [") != std::string::npos);
  }
  CHECK(experiment_refusal(R"({"depth": {}})") == "experiment.depth has the wrong type or range: {}");
  CHECK(experiment_refusal(R"({"batch": []})") == "experiment.batch is empty; name at least one number");
  CHECK(experiment_refusal(R"({"threads_per_stage": [1, -1]})") ==
        "experiment.threads_per_stage holds -1; it must be from 1 to 1024");
}

TEST_CASE("an empty experiment is the defaults, whichever they are", "[experiment]") {
  CHECK(experiment_from_json(json::object()) == Experiment{});
  CHECK(experiment_from_json(json::object(), unusual_experiment()) == unusual_experiment());
}

TEST_CASE("a switch of the tuning leaves the other switches alone", "[experiment]") {
  const auto experiment = experiment_from_json(json::parse(R"({"tuning": {"tune_malloc": false}})"));
  CHECK(experiment.tuning == ComputeTuning{.flush_denormals = true, .tune_malloc = false, .passive_openmp_wait = true});
}

TEST_CASE("unknown keys are refused at every level, with a suggestion", "[experiment]") {
  CHECK_THAT(experiment_refusal(R"({"batchs": 1})"),
             Catch::Matchers::StartsWith("experiment has an unknown key \"batchs\"; known keys: models, input, "));
  CHECK_THAT(experiment_refusal(R"({"batchs": 1})"), Catch::Matchers::EndsWith("; did you mean \"batch\"?"));
  CHECK(experiment_refusal(R"({"tuning": {"tune_maloc": true}})") ==
        "experiment.tuning has an unknown key \"tune_maloc\"; known keys: flush_denormals, tune_malloc, "
        "passive_openmp_wait; did you mean \"tune_malloc\"?");
  CHECK_THAT(experiment_refusal(R"({"model": "resnet18"})"), Catch::Matchers::EndsWith("; did you mean \"models\"?"));
}

TEST_CASE("wrong types are refused by the path of their key", "[experiment]") {
  CHECK(experiment_refusal("[]") == "experiment must be a JSON object, not array");
  CHECK(experiment_refusal("null") == "experiment must be a JSON object, not null");
  using Item = std::pair<const char*, const char*>;
  for (const auto& [key, value] : {Item{"batch", R"("8")"}, Item{"batch", "8.0"}, Item{"batch", "true"},
                                   Item{"batch", "4294967297"}, Item{"seed", "-1"}, Item{"models", R"("resnet18")"},
                                   Item{"models", "[1]"}, Item{"cpus", "[0,1]"}, Item{"data", "null"}}) {
    CHECK(experiment_refusal(fmt::format(R"({{"{}": {}}})", key, value)) ==
          fmt::format("experiment.{} has the wrong type or range: {}", key, value));
  }
  CHECK(experiment_refusal(R"({"tuning": []})") == "experiment.tuning must be a JSON object, not array");
  CHECK(experiment_refusal(R"({"tuning": {"tune_malloc": 1}})") ==
        "experiment.tuning.tune_malloc has the wrong type or range: 1");
  CHECK_THAT(experiment_refusal(R"({"splits": "2-"})"),
             Catch::Matchers::StartsWith("experiment.splits: \"2-\" is not a choice of split points"));
}

TEST_CASE("values out of range are refused when an experiment is read", "[experiment]") {
  CHECK(experiment_refusal(R"({"batch": 0})") == "experiment.batch is 0; it must be from 1 to 65536");
}

TEST_CASE("the tuning of a record is read back whole or not at all", "[experiment]") {
  const ComputeTuning tuning{.flush_denormals = false, .tune_malloc = true, .passive_openmp_wait = false};
  CHECK(json(tuning).get<ComputeTuning>() == tuning);
  CHECK_THROWS_AS(json::object().get<ComputeTuning>(), json::exception);
}
