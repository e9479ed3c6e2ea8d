// --scenario single-stream and offline alone, and the order in which trials run, as from a shell.
#include <paretopipe/analysis/stats/summarise.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

const Shell::Words kAlone{"--scenario", "single-stream"};
const Shell::Words kLoaded{"--scenario", "offline"};

/// Every trial is right, has one phase of a warm-up and four batches, and nothing of the other one.
void require_one_phase(const std::vector<record::TrialRecord>& records, bool offline) {
  for (const auto& record : records) {
    INFO(record.trial.label());
    REQUIRE(record.status == record::Status::ok);
    REQUIRE(record.single_stream.has_value() != offline);
    REQUIRE(record.offline.has_value() == offline);
    REQUIRE(record.fidelity->batches_compared == 5);
    REQUIRE(record.fidelity->max_abs_difference == 0);
    REQUIRE_NOTHROW(stats::check_summary(record));
  }
}

}  // namespace

TEST_CASE("a scenario alone measures its phase only, and says so in trials and tables") {
  const Shell shell;
  const bool offline = GENERATE(false, true);
  const auto sweep = shell.run(kSweep + (offline ? kLoaded : kAlone));
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  const auto records = shell.records();
  CHECK(records.size() == kTrials);
  require_one_phase(records, offline);
  const std::string only = offline ? "offline only" : "single-stream only";
  CHECK(contains(records.front().trial.label(), only));

  const auto frontier = shell.run({"frontier", "out"});
  CHECK(frontier.exit_code == 0);
  CHECK(contains(frontier.output, only));
  CHECK(contains(frontier.output, offline ? "on the frontier of throughput:max and payload:min"
                                          : "on the frontier of latency_p50:min and payload:min"));
  CHECK(contains(frontier.output, offline ? "x sequential is left out" : "Speed-ups over baselines are left out"));
  const auto csv = shell.run({"frontier", "out", "--format", "csv"}).output;
  CHECK(contains(csv, offline ? ",offline," : ",single-stream,"));
  CHECK(shell.run({"plot", "out", "-o", "x.svg"}).exit_code == 0);
  for (const auto* layout : {"trials", "stages", "batches", "jsonl"}) {
    CHECK(shell.run({"export", "out", "--layout", layout, "--out", "x"}).exit_code == 0);
  }
  const auto batches = support::read_file(shell.folder() / "x" / "batches.csv");
  CHECK(std::count(batches.begin(), batches.end(), '\n') == 1 + kTrials * 5);
  const auto compared = shell.run({"compare", "out", "out"});
  CHECK(compared.exit_code == 0);
  CHECK(contains(compared.output, offline ? "latency_p50 was not measured" : "throughput was not measured"));
}

TEST_CASE("what a phase that was not measured would say is missed in a sentence, and not shown as a number") {
  const Shell shell;
  REQUIRE(shell.run(kSweep + kAlone).exit_code == 0);
  const auto throughput = shell.run({"frontier", "out", "--objective", "throughput"});
  CHECK(throughput.exit_code == 1);
  CHECK(contains(throughput.output,
                 "were measured single-stream only, which gives no throughput; try --objective "
                 "latency_p50 --objective payload"));
  const auto where = shell.run({"frontier", "out", "--where", "throughput > 1"});
  CHECK(where.exit_code == 1);
  CHECK(contains(where.output, "it has no throughput (it was measured single-stream only)"));
  const auto explained = shell.run({"explain", "out"});
  CHECK(explained.exit_code == 1);
  CHECK(contains(explained.output, "takes both phases to tell, and this was measured single-stream only"));
  CHECK(
      shell.run({"plot", "out", "-o", "x.svg", "--objective", "latency_p50", "--objective", "throughput"}).exit_code ==
      1);
  const auto rule = shell.run({"compare", "out", "out", "--fail-on", "throughput < -5%", "--strict"});
  CHECK(rule.exit_code == 1);
  CHECK(contains(rule.output, "neither side has throughput"));
}

TEST_CASE("trials of one phase and of both lie in one file, each in a group of its own") {
  const Shell shell;
  REQUIRE(shell.run(kSweep + kAlone).exit_code == 0);
  REQUIRE(shell.run(kSweep + Shell::Words{"--resume"}).exit_code == 0);
  REQUIRE(shell.run(kSweep + kAlone + Shell::Words{"--resume"}).exit_code == 0);
  CHECK(shell.records().size() == 2 * kTrials);
  const auto frontier = shell.run({"frontier", "out"});
  CHECK(frontier.exit_code == 0);
  CHECK(contains(frontier.output, "single-stream only"));
  CHECK(contains(frontier.output, "which gives no throughput; try"));
  CHECK(contains(frontier.output, "on the frontier of latency_p50:min and throughput:max"));
}

TEST_CASE("a Server phase comes after the phases that are named beside it, and after both by itself") {
  const Shell shell;
  const auto run = [&](const std::string& scenario) {
    const auto sweep =
        shell.run(kInstantSweep + Shell::Words{"--warmup", "1", "--repeat", "1", "--split", "1", "--rate", "500",
                                               "--queries", "9", "--resume", "--scenario", scenario});
    INFO(sweep.errors);
    REQUIRE(sweep.exit_code == 0);
    return shell.records().back();
  };
  const auto alone = run("single-stream,server");
  CHECK(alone.server);
  CHECK(alone.single_stream);
  CHECK_FALSE(alone.offline);
  CHECK(alone.fidelity->batches_compared == 5 + 10);
  REQUIRE(shell.run({"export", "out", "--layout", "load", "--out", "x"}).exit_code == 0);
  CHECK(contains(support::read_file(shell.folder() / "x" / "load.csv"), ",unshaped,,500,"));
  CHECK_FALSE(run("server,offline").single_stream);
  const auto both = run("server");
  CHECK(both.single_stream);
  CHECK(both.offline);
  CHECK(both.trial.phases == experiment::Phases::both);
}

TEST_CASE("a file says which phases there are, a flag wins over it, and what cannot be had is refused") {
  const Shell shell;
  support::write_file(shell.folder() / "phases.json", R"({"phases": "offline"})");
  const auto planned = [&](const Shell::Words& flags) {
    return shell.run(Shell::Words{"sweep", "phases.json", "--model", "synthetic:0ms/4kB,0ms", "--data", "random",
                                  "--split", "1", "--dry-run"} +
                     flags);
  };
  CHECK(contains(planned({}).output, "offline only repetition 1"));
  CHECK(contains(planned(kAlone).output, "single-stream only repetition 1"));
  CHECK_FALSE(contains(planned({"--scenario", "offline,single-stream"}).output, "only"));
  struct Refused {
    Shell::Words flags;
    std::string named;
  };
  const std::vector<Refused> refusals{
      {{"--scenario", "single-stream,server", "--find-max-rate", "p99 < 1s"}, "begins at half the throughput"},
      {{"--scenario", "single-stream", "--depth", "1,4"}, "experiment.depth is a list"},
      {{"--baseline", "sequential"}, "the baseline sequential compares the two phases"},
      {{"--scenario", "single"}, "it must be single-stream, offline or server"},
  };
  for (const auto& [flags, named] : refusals) {
    const auto answer = planned(flags);
    INFO(answer.errors);
    CHECK(answer.exit_code == 2);
    CHECK(contains(answer.errors, named));
  }
}

TEST_CASE("one phase can be measured as often as it takes, and with batches dealt out") {
  const Shell shell;
  REQUIRE(shell.run(kInstantSweep + kAlone + Shell::Words{"--warmup", "1", "--repeat", "auto", "--max-repeat", "3"})
              .exit_code == 0);
  require_one_phase(shell.records(), false);
  const Shell other;
  const auto dealt = other.run(sweep_of("synthetic:0ms/4kB,0ms/64kB,0ms") + kLoaded +
                               Shell::Words{"--stages", "3", "--partitions", "1,2", "--baseline", "data-parallel",
                                            "--batches", "6", "--warmup", "1", "--repeat", "1"});
  INFO(dealt.errors);
  REQUIRE(dealt.exit_code == 0);
  for (const auto& record : other.records()) {
    CHECK(record.status == record::Status::ok);
    CHECK_FALSE(record.single_stream);
    CHECK(record.offline->results.completed.size() == 7);
    CHECK_NOTHROW(stats::check_summary(record));
  }
}

TEST_CASE("every repetition visits every combination, and records say in which order they ran") {
  const Shell shell;
  const auto words =
      kInstantSweep + Shell::Words{"--warmup", "1", "--split", "1,2", "--batch", "1,2,4", "--depth", "1,2"};
  REQUIRE(shell.run(words + Shell::Words{"--repeat", "1"}).exit_code == 0);
  const auto more = shell.run(words + Shell::Words{"--repeat", "3", "--resume"});
  INFO(more.errors);
  REQUIRE(more.exit_code == 0);
  const auto records = shell.records();
  REQUIRE(records.size() == 3 * 12);
  std::set<std::vector<std::string>> orders;
  for (std::size_t begin = 0; begin < records.size(); begin += 12) {
    std::set<std::string> configurations;
    std::vector<std::string> order;
    for (std::size_t i = begin; i < begin + 12; ++i) {
      CHECK(records[i].trial.repetition == static_cast<int>(begin / 12));
      CHECK(records[i].provenance.position == static_cast<int>(i) + 1);
      configurations.insert(records[i].trial.configuration_id());
      order.push_back(records[i].trial.group_id());
    }
    CHECK(configurations.size() == 12);
    orders.insert(order);
  }
  CHECK(orders.size() == 3);
  REQUIRE(shell.run({"export", "out", "--layout", "trials", "--out", "x"}).exit_code == 0);
  CHECK(contains(support::read_file(shell.folder() / "x" / "trials.csv"), ",started_at,position,"));
  REQUIRE(shell.run({"merge", "out", "--out", "merged"}).exit_code == 0);
  CHECK(record::read_records(shell.folder() / "merged").records == records);
}
