// What a person types, right and wrong, and what the driver answers: exit codes and sentences.
#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

constexpr const char* kPlan = "sweep --model synthetic:0ms/4kB,0ms --data random --dry-run ";

}  // namespace

TEST_CASE(
    "a sweep measures every split in every repetition, says what to do next, and is not mixed with another unless a "
    "person says --resume") {
  const Shell shell;
  const auto sweep = shell.run(0, kSweep);
  check_contains(sweep.output, {"8 of 8 trials ok, 0 failed", "paretopipe frontier out"});
  CHECK(sweep.errors.empty());  // progress is for terminals
  CHECK(count(shell.records(), record::Status::ok) == kTrials);
  const auto before = support::read_file(shell.records_file());
  CHECK(contains(shell.run(2, kSweep).errors, "--resume"));
  CHECK(contains(shell.run(0, kSweep + "--dry-run").errors, "has records already; the sweep needs --resume"));
  CHECK(shell.run(0, kSweep + "--dry-run --resume").errors.empty());
  CHECK(contains(shell.run(0, kSweep + "--resume").output, "8 of 8 trials ok"));
  CHECK(contains(shell.run(kInstantSweep + "--warmup 1 --repeat 3 --resume --dry-run").output,
                 "4 trials would be run and written to out/records.jsonl; 8 of 12 are there already"));
  CHECK(support::read_file(shell.records_file()) == before);
}

TEST_CASE("the frontier of a sweep comes in every format, on standard output or in a file") {
  const auto& shell = swept();
  for (const std::string format : {"table", "csv", "json", "markdown"}) {
    CHECK(contains(shell.run(0, "frontier out --format " + format).output, "split"));
    shell.run(0, "frontier out --out front." + format + " --format " + format);
    CHECK_FALSE(shell.text("front." + format).empty());
  }
  shell.run(0, "frontier out/records.jsonl --objective payload:min");
}

TEST_CASE("constraints and a reference go into the frontier, and where nothing keeps them the exit code says so") {
  const auto json = swept().as_json(
      "frontier out --where 'latency_p95 < 100s' --where 'throughput > 0.001' --reference latency_p50=1000s");
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
  CHECK(contains(swept().run(1, "frontier out --where 'throughput > 1000 G/s'").output, "No split can be recommended"));
}

TEST_CASE("a wrong request is answered by exit code 2 and the name of what is wrong, and makes nothing") {
  check_refused(Shell(), "",
                {{"", "A subcommand is required"},
                 {"swep", "did you mean \"sweep\""},
                 {"models --weights /etc/passwd", "--weights is about one model"},
                 {"models --input 3x4x4", "--input is about one model"},
                 {"models --dtype bfloat16", "--dtype is about one model"},
                 {"models perceptron", "perceptron"},
                 {"models synthetic:1ms/4kB,1ms --split 1", "--split tells how much memory training takes"},
                 {"models synthetic:1ms/4kB,1ms --schedule 1f1b", "--schedule tells how much memory training takes"},
                 {"models synthetic:1ms/4kB,1ms --batch -1", "--batch"},
                 {"frontier", "path"},
                 {"frontier nowhere", "nowhere"},
                 {"frontier nowhere --format xml", "xml"},
                 {"frontier nowhere --objective beauty:max", "beauty"},
                 {"frontier nowhere --where 'latency_p59 < 5ms'", "did you mean \"latency_p"},
                 {"frontier nowhere --where 'latency_p95 < 5 MiB'", "unit of time"},
                 {"frontier nowhere --where latency_p95", "is not a constraint"},
                 {"frontier nowhere --reference payload=1MB", "nowhere"},
                 {"export nowhere --out x", "nowhere"},
                 {"export nowhere --layout yaml --out x", "yaml"},
                 {"doctor --format xml", "xml"}});
  check_refused(Shell(), "sweep",
                {{"--bogus", "--bogus"},
                 {"--batch 0", "batch"},
                 {"--batch eight", "--batch"},
                 {"--batch", "--batch"},
                 {"--batches 1", "batches"},
                 {"--repeat -3", "repeat"},
                 {"--repeat often", "a number of trials, or auto"},
                 {"--precision 1%", "--repeat auto"},
                 {"--repeat auto --precision 0", "precision"},
                 {"--repeat auto --budget soon", "soon"},
                 {"--repeat auto --budget 0s", "at least a second"},
                 {"--repeat-slow -1", "repeat_slow"},
                 {"--depth 0", "depth"},
                 {"--split 9-3", "9-3"},
                 {"--cpus 0", "one for each of the 2 stages"},
                 {"--cpus 0 --cpus 9999", "9999"},
                 {"--data imagenet", "imagenet"},
                 {"--weights /nowhere/w.pth", "read /nowhere/w.pth: No such file"},
                 {"--weights /usr", "read /usr: Is a directory"},
                 {"--model alexnet --model vgg16 --weights /etc/passwd", "the weights of one model"},
                 {"--model synthetic:0ms/4kB,0ms --data random --weights /etc/passwd", "has no weights"},
                 {"no/such/experiment.json", "no/such/experiment.json"},
                 {"--model synthetic:0ms/4kB,0ms --split 7 --data random", "7"},
                 {"--model synthetic:0ms/4parsecs,0ms --data random", "4parsecs"},
                 {"--model perceptron --data random", "perceptron"}});
}

TEST_CASE("an unknown key of an experiment file is refused with the key that was probably meant") {
  const Shell shell;
  shell.write("mine.json", R"({"models": ["mobilenet_v2"], "batchs": 4})");
  check_contains(shell.run(2, "sweep mine.json").errors, {"mine.json", "batchs", "batches"});
}

TEST_CASE("the first argument that a command does not know is refused, with the flag that was probably meant") {
  const Shell shell;
  check_contains(
      shell.run(2, "profile --out p.json --modle alexnet --data random").errors,
      {"paretopipe profile has no flag --modle", "did you mean \"--model\"?", "\"paretopipe profile --help\""});
  check_contains(shell.run(2, "sweep --btaches=3").errors,
                 {"paretopipe sweep has no flag --btaches;", "did you mean \"--batches\"?"});
  check_contains(shell.run(2, "net show wifi --colour").errors, {"paretopipe net show has no flag --colour"});
  check_contains(shell.run(2, "doctor here").errors, {"paretopipe doctor does not know what to do with \"here\""});
  check_contains(shell.run(2, "--verison doctor").errors,
                 {"paretopipe has no flag --verison", "did you mean \"--version\"?"});
  check_contains(shell.run(2, "doctor -- here").errors, {"what to do with \"here\""});
}

TEST_CASE("a number that would be read as another is refused") {
  const auto [flag, number] = GENERATE(table<std::string, std::string>({{"--seed", "-1"},
                                                                        {"--seed", "18446744073709551616"},
                                                                        {"--batches", "010"},
                                                                        {"--warmup", "0x2"},
                                                                        {"--stages", "two"}}));
  const Shell shell;
  check_contains(shell.run(2, kPlan + flag + ' ' + number).errors, {flag, '"' + number + '"'});
  shell.run(0, kPlan + std::string("--seed 18446744073709551615"));
}

TEST_CASE("the experiment file may stand behind any flag, and flags win over it") {
  const Shell shell;
  shell.write("mine.json", R"({"models": ["perceptron"], "batches": 2, "repeat": 7, "data": "random"})");
  const auto plan = shell.run(0,
                              "sweep --cpus 0 --cpus 0 --model synthetic:0ms/4kB,0ms mine.json --split 1 --repeat 2 "
                              "--dry-run");
  check_contains(plan.output, {"2 trials would be run", "results/mine/records.jsonl"});
}

TEST_CASE("nothing is written over what is read") {
  const auto& shell = swept();
  const auto before = support::read_file(shell.records_file());
  for (const auto* command : {"frontier out --out out/records.jsonl", "explain out --out out/records.jsonl",
                              "explain out/records.jsonl --out ./out/../out/records.jsonl",
                              "report out -o out/records.jsonl", "compare out out --out out/records.jsonl"}) {
    CHECK(contains(shell.run(2, command).errors, "records.jsonl is what is read, and would be lost"));
  }
  CHECK(support::read_file(shell.records_file()) == before);
}

TEST_CASE("a phase all of whose batches are in flight at once is warned of") {
  const auto plan = Shell().run(0, kPlan + std::string("--batches 3 --warmup 1 --depth 2,4"));
  CHECK(contains(plan.errors, "a phase has 4 batches, and all of them are in flight at once (depth 4)"));
}

TEST_CASE("a dry run prints every trial of the plan and makes nothing") {
  const Shell shell;
  check_contains(shell.run(0, kSweep + "--dry-run").output,
                 {"8 trials would be run", "split 0/3", "split 1/3", "split 2/3", "split 3/3"});
  CHECK(shell.files().empty());
}

TEST_CASE("the help of a flag tells the default of the command that has it") {
  const Shell shell;
  CHECK(contains(shell.run(0, "sweep --help").output, "(32)"));
  const auto codecs = shell.run(0, "codecs --help").output;
  check_contains(codecs, {"(16)", "(each codec)", "(required, or --partitions)"});
  CHECK_FALSE(contains(codecs, "(32)"));
  check_contains(shell.run(0, "train --help").output, {"(the data set's own)", "(required, or --partitions)"});
  CHECK(contains(shell.run(0, "run --help").output, "(required, or --partitions)"));
}

TEST_CASE("what this machine lacks is exit code 3 and a sentence, and makes nothing") {
  const Shell shell;
  SECTION("the stage program") {
    const support::ScopedVariable missing("PARETOPIPE_STAGE", "/no/such/stage");
    check_refused(shell, kSweep, {{"", "/no/such/stage", 3}});
  }
  SECTION("a folder that can be made") {
    shell.write("out", "a file sits where the folder should be");
    CHECK(contains(shell.run(3, kSweep).errors, "out"));
    CHECK(shell.text("out") == "a file sits where the folder should be");
  }
}

TEST_CASE("a damaged records file is refused with the number of the line") {
  const SweptShell shell;
  auto text = support::read_file(shell.records_file());
  text[text.find('\n') + 1] = '!';
  support::write_file(shell.records_file(), text);
  CHECK(contains(shell.run(2, "frontier out").errors, "records.jsonl:2:"));
}

TEST_CASE("an adaptive sweep says what it decided, ends within its plan, and has nothing left to do afterwards") {
  const Shell shell;
  const auto words = kInstantSweep + "--repeat auto --max-repeat 6 --precision 50%";
  CHECK(contains(shell.run(0, words + "--dry-run").output, "at most 24 trials would be run"));
  CHECK(contains(shell.run(0, words).output, " measured to within 50 %"));
  const auto records = shell.records();
  CHECK(records.size() >= 4 * 3);
  CHECK(records.size() <= 4 * 6);
  CHECK(contains(shell.run(0, words + "--resume").output, " 0 of at most 24 trials run"));
  CHECK(shell.records().size() == records.size());
}

TEST_CASE("output that a full disk cuts off is an error in every command") {
  for (const auto* words : {"frontier out", "net show", "doctor", "compare out out --fail-on 'throughput < -5%'"}) {
    CAPTURE(words);
    const auto answer = swept().start(words, "/dev/full").wait();
    CHECK(answer.exit_code == 3);
    CHECK(contains(answer.errors, "No space left on device"));
  }
}

TEST_CASE("a sentence that nobody can be told changes neither the answer nor the exit code") {
  const Shell shell;
  const auto exit_code_without_stderr = [&](const std::string& arguments) {
    const auto command = PARETOPIPE_BIN_DIR "/paretopipe " + arguments + " 2> /dev/full";
    return support::Program({"/bin/sh", "-c", command}, shell.folder()).wait().exit_code;
  };
  CHECK(exit_code_without_stderr("frontier nothing-here") == 2);
  CHECK(exit_code_without_stderr("sweep --model nothing-such") == 2);
  CHECK(exit_code_without_stderr("net plan published --interface eth0") == 0);
}

TEST_CASE("help and version are successes") {
  CHECK(contains(Shell().run("--version").output, "paretopipe "));
  for (const std::string command :
       {"models", "sweep", "frontier", "merge", "compare", "export", "calibrate", "doctor"}) {
    CHECK(contains(Shell().run(0, command + " --help").output, "--"));
  }
}
