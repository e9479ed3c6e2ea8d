#include <paretopipe/core/error.hpp>
#include <paretopipe/experiment/experiment.hpp>

#include <filesystem>
#include <set>
#include <string>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>
#include <support/temporary_folder.hpp>

using namespace paretopipe;
using namespace paretopipe::experiment;
namespace fs = std::filesystem;

namespace {

/// What loading a file with this text is refused with, the file's name taken off the front.
std::string refusal(const std::string& text) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "experiment.json";
  support::write_file(file, text);
  const auto message = support::message_of<UsageError>([&] { load_experiment(file); });
  const auto prefix = file.string() + ": ";
  REQUIRE(message.substr(0, prefix.size()) == prefix);
  return message.substr(prefix.size());
}

}  // namespace

TEST_CASE("an experiment file may have comments", "[file]") {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "experiment.json";
  support::write_file(file, "// why\n{\n  /* eight */ \"batch\": 8,  // images\n  \"data\": \"cifar10:/a//b\"\n}\n");
  Experiment expected;
  expected.batch = 8;
  expected.data = "cifar10:/a//b";
  CHECK(load_experiment(file) == expected);
}

TEST_CASE("malformed JSON is refused with the file and the line", "[file]") {
  CHECK_THAT(refusal("{\n  \"batch\": 8,\n  \"depth\" 2\n}\n"), Catch::Matchers::StartsWith("line 3: syntax error"));
  CHECK_THAT(refusal("// one\n// two\n{\"batch\": }"), Catch::Matchers::StartsWith("line 3: syntax error"));
  CHECK_THAT(refusal(""), Catch::Matchers::StartsWith("line 1: "));  // the library's wording changed in 3.11
  CHECK_THAT(refusal("{\"batch\": 8"), Catch::Matchers::StartsWith("line 1: syntax error"));
  CHECK_THAT(refusal("{}\n{}"), Catch::Matchers::StartsWith("line 2: syntax error"));
  CHECK_THAT(refusal("{\"batch\": 8,}"), Catch::Matchers::StartsWith("line 1: syntax error"));
  CHECK_THAT(refusal("{\"data\": \"\xff\"}"), Catch::Matchers::StartsWith("line 1: syntax error"));
  CHECK_THAT(refusal("{\"batch\": 1e999}"), Catch::Matchers::StartsWith("number overflow"));
}

TEST_CASE("a message about malformed JSON does not show the library's identifiers", "[file]") {
  CHECK(refusal("{").find("json.exception") == std::string::npos);
  CHECK(refusal("{\"batch\": 1e999}").find("json.exception") == std::string::npos);
}

TEST_CASE("a key that stands twice in one object is refused, in two objects it is not", "[file]") {
  CHECK(refusal(R"({"batch": 1, "depth": 2, "batch": 8})") == "the key \"batch\" stands twice in the same object");
  CHECK(refusal(R"({"tuning": {"tune_malloc": true, "tune_malloc": false}})") ==
        "the key \"tune_malloc\" stands twice in the same object");
  CHECK_THAT(refusal(R"({"tuning": {"batch": 1}, "batch": 8})"),
             Catch::Matchers::StartsWith("experiment.tuning has an unknown key \"batch\""));
}

TEST_CASE("errors of the content name the file too", "[file]") {
  CHECK(refusal(R"({"batch": 0})") == "experiment.batch is 0; it must be from 1 to 65536");
  CHECK(refusal("[1]") == "experiment must be a JSON object, not array");
}

TEST_CASE("very deep nesting is refused without exhausting the stack", "[file]") {
  const std::size_t depth = 200'000;
  CHECK(refusal(std::string(depth, '[') + std::string(depth, ']')) == "experiment must be a JSON object, not array");
}

TEST_CASE("a file that is not there, or is a folder, is refused by name and reason", "[file]") {
  CHECK_THROWS_WITH(load_experiment("/nonexistent/x.json"),
                    "read experiment /nonexistent/x.json: No such file or directory");
  CHECK_THROWS_WITH(load_experiment("/usr"), "read experiment /usr: Is a directory");
  CHECK_THROWS_AS(load_experiment("/usr"), UsageError);
}

TEST_CASE("every experiment that ships is valid", "[file][shipped]") {
  std::set<std::string> loaded;
  for (const auto& entry : fs::directory_iterator(fs::path(PARETOPIPE_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path());
    CHECK_NOTHROW(load_experiment(entry.path()));
    loaded.insert(entry.path().filename());
  }
  CHECK(loaded == std::set<std::string>{"all-models.json", "four-stages.json", "quickstart.json",
                                        "sort-quantisation-mobilenet.json", "sort-quantisation-roberta.json",
                                        "synthetic.json", "train-densenet-cifar.json", "train-four-stages.json",
                                        "train-mobilenet.json", "train-mobilenet-four.json", "train-roberta.json",
                                        "train-roberta-four.json"});
}

TEST_CASE("the four-stage experiment has the six schemes, several batches, and five repetitions of one thread a stage",
          "[file][shipped]") {
  const auto four = load_experiment(fs::path(PARETOPIPE_SOURCE_DIR) / "configs" / "four-stages.json");
  CHECK(four.models == std::vector<std::string>{"alexnet", "resnet50", "vgg16"});
  CHECK(four.stages == 4);
  CHECK(four.partitions ==
        std::vector<std::string>{"front-heavy", "front-load", "middle-load", "end-load", "end-heavy", "equal-load"});
  CHECK(four.baselines == std::vector<std::string>{"single", "sequential"});
  CHECK(four.batch.size() >= 3);
  CHECK(four.repeat == Repeat{.adaptive = false, .trials = 5});
  CHECK(four.threads_per_stage == Axis(1));
}

TEST_CASE("the quickstart sweeps every split of one model on real images", "[file][shipped]") {
  const auto quickstart = load_experiment(fs::path(PARETOPIPE_SOURCE_DIR) / "configs" / "quickstart.json");
  CHECK(quickstart.models == std::vector<std::string>{"mobilenet_v2"});
  CHECK(quickstart.splits.all);
  CHECK(quickstart.data == "fashion-mnist");
  // 21 split points, two phases, about 20 ms an image at the slowest: the sweep has a minute.
  const int images =
      21 * 2 * quickstart.repeat.trials * (quickstart.warmup + quickstart.batches) * quickstart.batch.first();
  CHECK(images * 0.02 < 60);
}
