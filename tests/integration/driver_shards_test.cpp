// A sweep in several parts, as from a shell, and the parts joined.
#include <set>
#include <string>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

const Words kInParts =
    "sweep --data random --repeat-slow 0 --model synthetic:0ms/4kB,0ms/64kB,0ms --batches 4 --warmup 1";

Words part(int number, int count, const std::string& folder) {
  return kInParts + ("--shard " + std::to_string(number) + "/" + std::to_string(count) + " --out " + folder);
}

std::set<std::string> ids(const std::vector<record::TrialRecord>& records) {
  std::set<std::string> ids;
  for (const auto& record : records) ids.insert(record.trial.id());
  return ids;
}

}  // namespace

TEST_CASE("the shards of a sweep, joined, are the trials of the whole sweep, and each can be continued") {
  const Shell shell;
  const Words repeated = "--repeat 2 --batch 1,2";
  shell.run(0, kInParts + repeated + "--out whole");
  for (int number = 1; number <= 3; ++number) {
    const auto folder = "part-" + std::to_string(number);
    const auto planned = shell.run(0, part(number, 3, folder) + repeated + "--dry-run").output;
    const auto outcome = shell.run(0, part(number, 3, folder) + "--repeat 1 --batch 1,2");
    CHECK(contains(outcome.output, "when all 3 shards are measured: paretopipe merge"));
    shell.run(0, part(number, 3, folder) + repeated + "--resume");
    const auto measured = ids(shell.records(folder));
    CHECK((measured.size() == 4 || measured.size() == 6));
    for (const auto& id : measured) CHECK(contains(planned, id));
    CHECK(contains(planned, std::to_string(measured.size()) + " trials would be run"));
  }
  shell.run(0, "merge part-1 part-2 part-3 --out joined");
  CHECK(ids(shell.records("joined")) == ids(shell.records("whole")));
  CHECK(ids(shell.records("joined")).size() == 16);
  shell.run(0, "frontier joined");
}

TEST_CASE("within a shard, splits are repeated as often as they need") {
  const Shell shell;
  const Words automatic = "--repeat auto --max-repeat 3";
  const auto outcome = shell.run(0, part(1, 2, "a") + automatic);
  CHECK(contains(outcome.output, "of at most 6 trials run"));
  shell.run(0, part(2, 2, "b") + automatic);
  shell.run(0, "merge a b --out joined");
  std::set<experiment::SplitPoints> splits;
  for (const auto& record : shell.records("joined")) splits.insert(record.trial.split_points);
  CHECK(splits == std::set<experiment::SplitPoints>{{0}, {1}, {2}, {3}});
}

TEST_CASE("a shard has a folder of its own, and one without trials says so and makes none") {
  const Shell shell;
  shell.run(0, kInParts + "--repeat 1 --shard 2/4");
  CHECK(shell.records("results/synthetic/shard-2-of-4").size() == 1);
  int without = 0;
  for (int number = 1; number <= 5; ++number) {
    const auto folder = "of-five-" + std::to_string(number);
    const auto outcome = shell.run(0, part(number, 5, folder) + "--repeat 1");
    if (shell.has(folder)) continue;
    ++without;
    CHECK(contains(outcome.output, "shard " + std::to_string(number) + "/5 has no trials"));
  }
  CHECK(without == 1);
}

TEST_CASE("a sweep that goes on with records of another machine or stage program says so") {
  const Shell shell;
  shell.run(0, kOneRepetition + "--split 0");
  CHECK_FALSE(contains(shell.run(0, kOneRepetition + "--split 0,1 --resume").errors, "has records"));
  const auto as_if = [&](const std::string& key, const std::string& value, const std::string& other) {
    auto text = shell.text("out/records.jsonl");
    const auto was = '"' + key + "\":\"" + value + '"', now = '"' + key + "\":\"" + other + '"';
    REQUIRE(contains(text, was));
    for (auto at = text.find(was); at != std::string::npos; at = text.find(was, at)) text.replace(at, was.size(), now);
    shell.write("out/records.jsonl", text);
  };
  const auto first = shell.records().front();
  const auto& program = first.provenance.stage_program_sha256;
  as_if("stage_program_sha256", program, std::string(program.size(), '0'));
  CHECK(contains(shell.run(0, kOneRepetition + "--resume").errors, "records of another stage program"));
  as_if("hostname", first.stages.front().host.hostname, "elsewhere");
  check_contains(shell.run(0, kOneRepetition + "--resume").errors,
                 {"has records from elsewhere (", "`paretopipe merge` refuses"});
}

TEST_CASE("what is no shard is refused, and so is a plan that each shard would make anew") {
  const Shell shell;
  check_refused(shell, kInParts,
                {{"--shard 0/4", "\"0/4\" is not a shard"},
                 {"--shard 5/4", "\"5/4\" is not a shard"},
                 {"--shard x", "such as 3/16"},
                 {"--shard 1/2 --stages 3 --partitions equal-time", "--shard needs a plan that is the same"}});
}

TEST_CASE("the tasks of a Slurm array measure a shard each, and a task that is run again continues it") {
  const Shell shell;
  shell.write("tiny.json", R"({"models": ["synthetic:0ms/4kB,0ms"], "data": "random", "batches": 4, "warmup": 1,
                               "repeat": 1, "repeat_slow": 0})");
  const auto task = [&](const std::string& number, const std::string& array, const std::string& flags = "") {
    return support::Program(
               Words("/usr/bin/env 'PATH=" PARETOPIPE_BIN_DIR "'") +
                   Words("SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_ID=" + number) + Words(array) +
                   Words("/bin/bash '" PARETOPIPE_SOURCE_DIR "/configs/slurm/sweep-array.sh' tiny.json " + flags),
               shell.folder())
        .wait();
  };
  const std::string array = "SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MAX=2";
  for (const auto* number : {"1", "2", "2"}) {
    const auto outcome = task(number, array);
    CAPTURE(outcome.errors);
    CHECK(outcome.exit_code == 0);
  }
  shell.run(0, "merge results/tiny/shard-1-of-2 results/tiny/shard-2-of-2 --out results/tiny");
  CHECK(shell.records("results/tiny").size() == 3);
  const auto gap = task("4", "SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MAX=4");
  CHECK(gap.exit_code == 2);
  CHECK(contains(gap.errors, "without gaps"));
  const auto shared = task("1", array, "--out=here");
  CHECK(shared.exit_code == 2);
  CHECK(contains(shared.errors, "leave --out out"));
}
