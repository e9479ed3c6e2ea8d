// What a person types, right and wrong, and what the driver answers: exit codes and sentences.
#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;
using support::write_file;

TEST_CASE("a sweep measures every split in every repetition, and says what to do next") {
  const Shell shell;
  const auto sweep = shell.run(kSweep);
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  CHECK(contains(sweep.output, "8 of 8 trials ok, 0 failed"));
  CHECK(contains(sweep.output, "paretopipe frontier out"));
  CHECK(sweep.errors.empty());  // progress is for terminals
  CHECK(count(shell.records(), record::Status::ok) == kTrials);
}

TEST_CASE("the frontier of a sweep comes in every format, on standard output or in a file") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  for (const std::string format : {"table", "csv", "json", "markdown"}) {
    CAPTURE(format);
    const auto printed = shell.run({"frontier", "out", "--format", format});
    CHECK(printed.exit_code == 0);
    CHECK(contains(printed.output, "split"));
    REQUIRE(shell.run({"frontier", "out", "--format", format, "--out", "file"}).exit_code == 0);
    CHECK_FALSE(support::read_file(shell.folder() / "file").empty());
  }
  CHECK(shell.run({"frontier", "out/records.jsonl", "--objective", "payload:min"}).exit_code == 0);
}

TEST_CASE("constraints and a reference go into the frontier, and where nothing keeps them the exit code says so") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto met = shell.run({"frontier", "out", "--where", "latency_p95 < 100s", "--where", "throughput > 0.001",
                              "--reference", "latency_p50=1000s", "--format", "json"});
  CHECK(met.exit_code == 0);
  const auto json = nlohmann::json::parse(met.output);
  CHECK(json["constraints"].size() == 2);
  const auto& group = json["groups"][0];
  CHECK(group["reference"]["latency_p50_ns"] == 1'000'000'000'000);
  CHECK(group["hypervolume"].get<double>() > 0);
  for (const auto& split : group["splits"]) {
    const auto& interval = split["intervals"]["latency_p50_ns"];
    CHECK(interval[0].get<double>() <= split["latency_p50_ns"].get<double>());
    CHECK(interval[1].get<double>() >= split["latency_p50_ns"].get<double>());
    CHECK(split["frontier_probability"].get<double>() <= 1);
  }
  const auto unmet = shell.run({"frontier", "out", "--where", "throughput > 1000 G/s"});
  CHECK(unmet.exit_code == 1);
  CHECK(contains(unmet.output, "No split can be recommended"));
}

TEST_CASE("a wrong request is answered by exit code 2 and the name of what is wrong, and makes nothing") {
  struct Wrong {
    Shell::Words words;
    std::string named;
  };
  const auto wrong = GENERATE(values<Wrong>({
      {{}, "A subcommand is required"},
      {{"swep"}, "did you mean \"sweep\""},
      {{"sweep", "--bogus"}, "--bogus"},
      {{"sweep", "--batch", "0"}, "batch"},
      {{"sweep", "--batch", "eight"}, "--batch"},
      {{"sweep", "--batch"}, "--batch"},
      {{"sweep", "--batches", "1"}, "batches"},
      {{"sweep", "--repeat", "-3"}, "repeat"},
      {{"sweep", "--repeat", "often"}, "a number of trials, or auto"},
      {{"sweep", "--precision", "1%"}, "--repeat auto"},
      {{"sweep", "--repeat", "auto", "--precision", "0"}, "precision"},
      {{"sweep", "--repeat", "auto", "--budget", "soon"}, "soon"},
      {{"sweep", "--repeat", "auto", "--budget", "0s"}, "at least a second"},
      {{"sweep", "--repeat-slow", "-1"}, "repeat_slow"},
      {{"sweep", "--depth", "0"}, "depth"},
      {{"sweep", "--split", "9-3"}, "9-3"},
      {{"sweep", "--cpus", "0"}, "one for each of the 2 stages"},
      {{"sweep", "--cpus", "0", "--cpus", "9999"}, "9999"},
      {{"sweep", "--data", "imagenet"}, "imagenet"},
      {{"sweep", "--weights", "/nowhere/w.pth"}, "read /nowhere/w.pth: No such file"},
      {{"sweep", "--weights", "/usr"}, "read /usr: Is a directory"},
      {{"sweep", "--model", "alexnet", "--model", "vgg16", "--weights", "/etc/passwd"}, "the weights of one model"},
      {{"sweep", "--model", "synthetic:0ms/4kB,0ms", "--data", "random", "--weights", "/etc/passwd"}, "has no weights"},
      {{"models", "--weights", "/etc/passwd"}, "--weights is about one model"},
      {{"models", "--input", "3x4x4"}, "--input is about one model"},
      {{"models", "--dtype", "bfloat16"}, "--dtype is about one model"},
      {{"sweep", "no/such/experiment.json"}, "no/such/experiment.json"},
      {{"sweep", "--model", "synthetic:0ms/4kB,0ms", "--split", "7", "--data", "random"}, "7"},
      {{"sweep", "--model", "synthetic:0ms/4parsecs,0ms", "--data", "random"}, "4parsecs"},
      {{"sweep", "--model", "perceptron", "--data", "random"}, "perceptron"},
      {{"models", "perceptron"}, "perceptron"},
      {{"models", "synthetic:1ms/4kB,1ms", "--batch", "-1"}, "--batch"},
      {{"frontier"}, "path"},
      {{"frontier", "nowhere"}, "nowhere"},
      {{"frontier", "nowhere", "--format", "xml"}, "xml"},
      {{"frontier", "nowhere", "--objective", "beauty:max"}, "beauty"},
      {{"frontier", "nowhere", "--where", "latency_p59 < 5ms"}, "did you mean \"latency_p"},
      {{"frontier", "nowhere", "--where", "latency_p95 < 5 MiB"}, "unit of time"},
      {{"frontier", "nowhere", "--where", "latency_p95"}, "is not a constraint"},
      {{"frontier", "nowhere", "--reference", "payload=1MB"}, "nowhere"},
      {{"export", "nowhere", "--out", "x"}, "nowhere"},
      {{"export", "nowhere", "--layout", "yaml", "--out", "x"}, "yaml"},
      {{"doctor", "--format", "xml"}, "xml"},
  }));
  const Shell shell;
  const auto answer = shell.run(wrong.words);
  INFO(answer.errors);
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, wrong.named));
  CHECK(answer.output.empty());
  CHECK(shell.folder_is_empty());
}

TEST_CASE("an unknown key of an experiment file is refused with the key that was probably meant") {
  const Shell shell;
  write_file(shell.folder() / "mine.json", R"({"models": ["mobilenet_v2"], "batchs": 4})");
  const auto answer = shell.run({"sweep", "mine.json"});
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, "mine.json"));
  CHECK(contains(answer.errors, "batchs"));
  CHECK(contains(answer.errors, "batches"));
}

TEST_CASE("a number that would be read as another is refused") {
  const auto refused = GENERATE(values<Shell::Words>({{"--seed", "-1"},
                                                      {"--seed", "18446744073709551616"},
                                                      {"--batches", "010"},
                                                      {"--warmup", "0x2"},
                                                      {"--stages", "two"}}));
  const Shell shell;
  const Shell::Words sweep{"sweep", "--model", "synthetic:0ms/4kB,0ms", "--data", "random", "--dry-run"};
  const auto answer = shell.run(sweep + refused);
  INFO(answer.errors);
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, refused[0]));
  CHECK(contains(answer.errors, '"' + refused[1] + '"'));
  CHECK(shell.run(sweep + Shell::Words{"--seed", "18446744073709551615"}).exit_code == 0);
}

TEST_CASE("the experiment file may stand behind any flag") {
  const Shell shell;
  write_file(shell.folder() / "mine.json", R"({"batches": 2, "repeat": 1, "data": "random"})");
  const auto plan = shell.run({"sweep", "--cpus", "0", "--cpus", "0", "--model", "synthetic:0ms/4kB,0ms", "mine.json",
                               "--split", "1", "--dry-run"});
  INFO(plan.errors);
  CHECK(plan.exit_code == 0);
  CHECK(contains(plan.output, "1 trial would be run"));
}

TEST_CASE("nothing is written over what is read") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto before = support::read_file(shell.records_file());
  const auto commands =
      std::vector<Shell::Words>{{"frontier", "out", "--out", "out/records.jsonl"},
                                {"explain", "out", "--out", "out/records.jsonl"},
                                {"explain", "out/records.jsonl", "--out", "./out/../out/records.jsonl"},
                                {"report", "out", "-o", "out/records.jsonl"},
                                {"compare", "out", "out", "--out", "out/records.jsonl"}};
  for (const auto& command : commands) {
    const auto answer = shell.run(command);
    CAPTURE(command);
    CHECK(answer.exit_code == 2);
    CHECK(contains(answer.errors, "records.jsonl is what is read, and would be lost"));
  }
  CHECK(support::read_file(shell.records_file()) == before);
}

TEST_CASE("a phase all of whose batches are in flight at once is warned of") {
  const Shell shell;
  const auto plan = shell.run({"sweep", "--model", "synthetic:0ms/4kB,0ms", "--data", "random", "--batches", "3",
                               "--warmup", "1", "--depth", "2,4", "--dry-run"});
  CHECK(plan.exit_code == 0);
  CHECK(contains(plan.errors, "a phase has 4 batches, and all of them are in flight at once (depth 4)"));
}

TEST_CASE("flags win over the experiment file") {
  const Shell shell;
  write_file(shell.folder() / "mine.json",
             R"({"models": ["synthetic:0ms/4kB,0ms"], "data": "random", "batches": 2, "repeat": 7})");
  const auto plan = shell.run({"sweep", "mine.json", "--repeat", "2", "--split", "1", "--dry-run"});
  CHECK(plan.exit_code == 0);
  CHECK(contains(plan.output, "2 trials would be run"));
  CHECK(contains(plan.output, "results/mine/records.jsonl"));
}

TEST_CASE("a dry run prints every trial of the plan and makes nothing") {
  const Shell shell;
  const auto plan = shell.run(kSweep + Shell::Words{"--dry-run"});
  REQUIRE(plan.exit_code == 0);
  CHECK(contains(plan.output, "8 trials would be run"));
  for (const auto* split : {"split 0/3", "split 1/3", "split 2/3", "split 3/3"}) CHECK(contains(plan.output, split));
  CHECK(shell.folder_is_empty());
}

TEST_CASE("what this machine lacks is exit code 3 and a sentence, and makes nothing") {
  const Shell shell;
  SECTION("the stage program") {
    const support::ScopedVariable missing("PARETOPIPE_STAGE", "/no/such/stage");
    const auto answer = shell.run(kSweep);
    CHECK(answer.exit_code == 3);
    CHECK(contains(answer.errors, "/no/such/stage"));
    CHECK(shell.folder_is_empty());
  }
  SECTION("a folder that can be made") {
    write_file(shell.folder() / "out", "a file sits where the folder should be");
    const auto answer = shell.run(kSweep);
    CHECK(answer.exit_code == 3);
    CHECK(contains(answer.errors, "out"));
    CHECK(support::read_file(shell.folder() / "out") == "a file sits where the folder should be");
  }
}

TEST_CASE("records that are there already are not mixed with others unless a person says --resume") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto before = support::read_file(shell.records_file());
  const auto again = shell.run(kSweep);
  CHECK(again.exit_code == 2);
  CHECK(contains(again.errors, "--resume"));
  const auto resumed = shell.run(kSweep + Shell::Words{"--resume"});
  CHECK(resumed.exit_code == 0);
  CHECK(contains(resumed.output, "8 of 8 trials ok"));
  const auto plan = shell.run(kInstantSweep + Shell::Words{"--warmup", "1", "--repeat", "3", "--resume", "--dry-run"});
  CHECK(contains(plan.output, "4 trials would be run and written to out/records.jsonl; 8 of 12 are there already"));
  CHECK(support::read_file(shell.records_file()) == before);
}

TEST_CASE("a damaged records file is refused with the number of the line") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  auto text = support::read_file(shell.records_file());
  const auto second_line = text.find('\n') + 1;
  text[second_line] = '!';
  write_file(shell.records_file(), text);
  const auto answer = shell.run({"frontier", "out"});
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, "records.jsonl:2:"));
}

namespace {

const Shell::Words kAdaptiveSweep =
    kInstantSweep + Shell::Words{"--repeat", "auto", "--max-repeat", "6", "--precision", "50%"};

}  // namespace

TEST_CASE("an adaptive sweep says what it decided, ends within its bounds, and has nothing left to do afterwards") {
  const Shell shell;
  const auto sweep = shell.run(kAdaptiveSweep);
  INFO(sweep.output << sweep.errors);
  CHECK(sweep.exit_code == 0);
  CHECK(contains(sweep.output, " measured to within 50 %"));
  const auto records = shell.records();
  CHECK(records.size() >= 4 * 3);
  CHECK(records.size() <= 4 * 6);
  const auto again = shell.run(kAdaptiveSweep + Shell::Words{"--resume"});
  CHECK(again.exit_code == 0);
  CHECK(contains(again.output, " 0 of at most 24 trials run"));
  CHECK(shell.records().size() == records.size());
}

TEST_CASE("the plan of an adaptive sweep is the most that it may run") {
  const Shell shell;
  const auto plan = shell.run(kAdaptiveSweep + Shell::Words{"--dry-run"});
  CHECK(plan.exit_code == 0);
  CHECK(contains(plan.output, "at most 24 trials would be run"));
}

TEST_CASE("output that a full disk cuts off is an error in every command") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  for (const auto& words : std::vector<Shell::Words>{{"frontier", "out"}, {"models"}, {"doctor"}}) {
    CAPTURE(words);
    auto program = shell.start(words, "/dev/full");
    const auto answer = program.wait();
    CHECK(answer.exit_code == 3);
    CHECK(contains(answer.errors, "No space left on device"));
  }
}

TEST_CASE("a sentence that nobody can be told changes neither the answer nor the exit code") {
  const Shell shell;
  const auto exit_code_without_stderr = [&](const std::string& arguments) {
    const auto command = std::string(PARETOPIPE_BIN_DIR) + "/paretopipe " + arguments + " 2> /dev/full";
    return support::Program({"/bin/sh", "-c", command}, shell.folder()).wait().exit_code;
  };
  CHECK(exit_code_without_stderr("frontier nothing-here") == 2);
  CHECK(exit_code_without_stderr("sweep --model nothing-such") == 2);
  CHECK(exit_code_without_stderr("net plan published --interface eth0") == 0);
}

TEST_CASE("help and version are successes") {
  const Shell shell;
  CHECK(contains(shell.run({"--version"}).output, "paretopipe "));
  for (const std::string command :
       {"models", "sweep", "frontier", "merge", "compare", "export", "calibrate", "doctor"}) {
    const auto help = shell.run({command, "--help"});
    CHECK(help.exit_code == 0);
    CHECK(contains(help.output, "--"));
  }
}
