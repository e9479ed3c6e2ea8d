// Batches that are cut into micro-batches, as from a shell.
#include <paretopipe/analysis/stats/summarise.hpp>

#include <map>

#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

const Shell::Words kBatchOfEight = kInstantSweep + Shell::Words{"--warmup", "1", "--repeat", "1", "--batch", "8"};

/// How many records there are of each size of micro-batches.
std::map<int, int> sizes(const Shell& shell) {
  std::map<int, int> found;
  for (const auto& record : shell.records()) ++found[record.trial.images_per_micro_batch()];
  return found;
}

}  // namespace

TEST_CASE("every micro-batch of a list is measured at every split, and has a frontier of its own") {
  const Shell shell;
  const auto sweep = shell.run(kBatchOfEight + Shell::Words{"--micro-batch", "1,2,8"});
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  CHECK(sizes(shell) == std::map<int, int>{{1, 4}, {2, 4}, {8, 4}});
  for (const auto& record : shell.records()) {
    INFO(record.trial.label());
    CHECK(record.status == record::Status::ok);
    CHECK(record.fidelity->max_abs_difference == 0);
    CHECK(record.offline->micro_batches == record.trial.micro_batches());
    CHECK_NOTHROW(stats::check_summary(record));
  }
  const auto frontier = shell.run({"frontier", "out"});
  CHECK(frontier.exit_code == 0);
  CHECK(contains(frontier.output, "batch 8, micro-batch 2, depth"));
  CHECK(contains(frontier.output, "batch 8, micro-batch 1, depth"));
  CHECK(contains(frontier.output, "batch 8, depth"));
}

TEST_CASE("what was measured in micro-batches is exported, drawn and compared like anything else") {
  const Shell shell;
  REQUIRE(shell.run(kBatchOfEight + Shell::Words{"--micro-batch", "2,4"}).exit_code == 0);
  for (const auto* layout : {"trials", "batches", "jsonl"}) {
    CHECK(shell.run({"export", "out", "--layout", layout, "--out", "exported"}).exit_code == 0);
  }
  const auto csv = support::read_file(shell.folder() / "exported" / "trials.csv");
  CHECK(contains(csv, ",micro_batch,"));
  const auto id = shell.records().front().trial.id();
  CHECK(shell.run({"export", "out", "--layout", "trace", "--trial", id, "--out", "exported"}).exit_code == 0);
  CHECK(contains(shell.run({"export", "out", "--layout", "python", "--out", "exported"}).errors,
                 "cut into micro-batches"));
  CHECK(shell.run({"compare", "out", "out"}).exit_code == 0);
  CHECK(shell.run({"plot", "out", "--micro-batch", "4", "-o", "four.svg"}).exit_code == 0);
  const auto drawn = support::read_file(shell.folder() / "four.svg");
  CHECK(contains(drawn, "micro-batch 4"));
  CHECK_FALSE(contains(drawn, "micro-batch 2"));
}

TEST_CASE("the batch itself as micro-batch is the trial that it was without, which resume knows") {
  const Shell shell;
  REQUIRE(shell.run(kBatchOfEight).exit_code == 0);
  REQUIRE(shell.run(kBatchOfEight + Shell::Words{"--micro-batch", "8,4", "--resume"}).exit_code == 0);
  CHECK(sizes(shell) == std::map<int, int>{{8, 4}, {4, 4}});
}

TEST_CASE("four stages with one batch in flight pass micro-batches, and a stage that dies among them is named") {
  const Shell shell;
  const auto words =
      sweep_of("synthetic:0ms/4kB,0ms/8kB,0ms/4kB,0ms") +
      Shell::Words{"--batches",    "3",     "--warmup", "1", "--repeat", "1", "--stages",      "4",
                   "--partitions", "1,2,3", "--batch",  "6", "--depth",  "1", "--micro-batch", "1,2,3,6"};
  const support::FaultOnce fault("kill@2-3@40");  // of the 48 micro-batches of the first trial
  const auto sweep = shell.run(words);
  INFO(sweep.errors);
  CHECK(sweep.exit_code == 1);
  REQUIRE(count(shell.records(), record::Status::failed) == 1);
  for (const auto& record : shell.records()) {
    if (record.status == record::Status::failed) CHECK(record.failure->stage == 2);
  }
  CHECK(shell.run(words + Shell::Words{"--resume"}).exit_code == 0);
  CHECK(count(shell.records(), record::Status::ok) == 4);
}

TEST_CASE("micro-batches that a batch cannot be cut into are refused, and nothing is run") {
  struct Refused {
    std::string sizes;
    std::string named;
  };
  const auto refused = GENERATE(values<Refused>({
      {"16", "holds 16; a batch of 8 can be cut into micro-batches of 1 to 8"},
      {"0", "holds 0; a batch of 8"},
      {"4,3", "holds 3, which does not divide the batch of 8"},
      {"-2", "--micro-batch"},
      {"2.5", "--micro-batch is \"2.5\""},
      {"many", "--micro-batch is \"many\""},
      {"", "--micro-batch"},
      {"1000000", "--micro-batch is \"1000000\""},
  }));
  const Shell shell;
  const auto answer = shell.run(kBatchOfEight + Shell::Words{"--micro-batch", refused.sizes});
  INFO(answer.errors);
  CHECK(answer.exit_code == 2);
  CHECK(contains(answer.errors, refused.named));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "out"));
}

TEST_CASE("a file's micro-batches are measured, and a flag wins over them") {
  const Shell shell;
  support::write_file(shell.folder() / "cut.json", R"({"batch": 8, "micro_batches": [2, 4]})");
  const auto planned = [&](const Shell::Words& flags) {
    return shell.run(Shell::Words{"sweep", "cut.json", "--model", "synthetic:0ms/4kB,0ms", "--data", "random",
                                  "--repeat", "1", "--dry-run"} +
                     flags);
  };
  const auto from_file = planned({}).output;
  CHECK(contains(from_file, "batch 8 micro-batch 2"));
  CHECK(contains(from_file, "batch 8 micro-batch 4"));
  const auto from_flag = planned({"--micro-batch", "1"}).output;
  CHECK(contains(from_flag, "batch 8 micro-batch 1"));
  CHECK_FALSE(contains(from_flag, "micro-batch 2"));
  CHECK(planned({"--batch", "6"}).exit_code == 2);
}
