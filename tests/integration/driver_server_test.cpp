// The Server scenario, as from a shell. How long things take decides nothing here: rates are far below, or far above,
// what any machine can do.
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/record/metric.hpp>

#include <algorithm>
#include <map>

#include <support/catch.hpp>
#include <support/fault_once.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;

namespace {

const Shell::Words kOneTrial = kInstantSweep + Shell::Words{"--warmup", "1", "--repeat", "1", "--split", "1"};

std::map<double, int> rates(const Shell& shell) {
  std::map<double, int> found;
  for (const auto& record : shell.records()) ++found[record.server->runs.front().rate_image_per_s];
  return found;
}

void require_sound(const std::vector<record::TrialRecord>& records) {
  for (const auto& record : records) {
    INFO(record.trial.label());
    REQUIRE(record.status == record::Status::ok);
    REQUIRE(record.server.has_value());
    REQUIRE_NOTHROW(stats::check_summary(record));
    REQUIRE(record.fidelity->max_abs_difference == 0);
  }
}

double value_of(const record::TrialRecord& record, const char* metric) {
  const auto value = record::find_metric(metric).value(record);
  REQUIRE(value.has_value());
  return *value;
}

}  // namespace

TEST_CASE("every rate of a list is measured at every split, and its latencies are metrics") {
  const Shell shell;
  const auto sweep = shell.run(kInstantSweep + Shell::Words{"--warmup", "1", "--repeat", "1", "--scenario", "server",
                                                            "--rate", "400,200", "--queries", "12"});
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code == 0);
  CHECK(rates(shell) == std::map<double, int>{{200, 4}, {400, 4}});
  const auto records = shell.records();
  require_sound(records);
  for (const auto& record : records) {
    CHECK(record.server->runs.front().moments.scheduled.size() == 13);
    CHECK(value_of(record, "server_latency_p99") >= value_of(record, "server_latency_min"));
    CHECK(value_of(record, "server_rate") > 0);
    CHECK_FALSE(record::find_metric("max_rate").value(record).has_value());
  }
  const auto frontier =
      shell.run({"frontier", "out", "--objective", "server_latency_p99:min", "--objective", "throughput"});
  CHECK(frontier.exit_code == 0);
  CHECK(contains(frontier.output, "Server at 400 image/s, 12 queries"));
  CHECK(contains(frontier.output, "server_latency_p99"));
}

TEST_CASE("a rate beyond all measure is said to be saturated") {
  const Shell shell;
  const auto sweep =
      shell.run(sweep_of("synthetic:1ms/4kB,0ms") + Shell::Words{"--split", "1", "--batches", "2", "--warmup", "0",
                                                                 "--repeat", "1", "--rate", "1M", "--queries", "20"});
  INFO(sweep.errors);
  CHECK(sweep.exit_code == 0);
  CHECK(contains(sweep.output, "saturated"));
  CHECK(shell.records().front().server->runs.front().summary.saturated);
}

TEST_CASE("a search ends between a rate that kept the bound and one that did not, and exports what it tried") {
  const Shell shell;
  const auto sweep = shell.run(sweep_of("synthetic:1ms/4kB,1ms") +
                               Shell::Words{"--split", "1,2", "--batches", "4", "--warmup", "1", "--repeat", "1",
                                            "--find-max-rate", "p50 < 5s", "--queries", "40"});
  INFO(sweep.errors);
  REQUIRE(sweep.exit_code <= 1);
  const auto records = shell.records();
  require_sound(records);
  for (const auto& record : records) {
    const auto& [kept, missed] = *record.server->max_rate;
    REQUIRE(missed);  // beyond its throughput, nothing keeps up
    CHECK(record::find_metric("max_rate").value(record) == kept);
    if (kept) CHECK(*missed <= 1.05001 * *kept);  // none, where the machine stalled at every rate
    CHECK_FALSE(record::find_metric("server_latency_p99").value(record).has_value());
  }
  const auto frontier = shell.run({"frontier", "out", "--objective", "max_rate:max", "--objective", "latency_p50"});
  CHECK(contains(frontier.output, "Server, highest rate with p50 < 5 s, 40 queries"));
  REQUIRE(shell.run({"export", "out", "--layout", "load", "--out", "exported"}).exit_code == 0);
  const auto csv = support::read_file(shell.folder() / "exported" / "load.csv");
  const auto lines = static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n'));
  CHECK(lines == 1 + records[0].server->runs.size() + records[1].server->runs.size());
  CHECK(contains(csv, ",p50 < 5 s,false,"));
}

TEST_CASE("a bound that no rate keeps is an answer, and a bad one") {
  const Shell shell;
  const auto sweep = shell.run(kOneTrial + Shell::Words{"--find-max-rate", "max < 1ns", "--queries", "5"});
  INFO(sweep.errors);
  CHECK(sweep.exit_code == 1);
  CHECK(contains(sweep.output, "1 trial: the latency bound is not kept"));
  require_sound(shell.records());
  CHECK_FALSE(shell.records().front().server->max_rate->kept_image_per_s);
}

TEST_CASE("trials without a Server phase are not in the export of loads, which says so") {
  const Shell shell;
  REQUIRE(shell.run(kOneTrial + Shell::Words{"--scenario", "offline,single-stream"}).exit_code == 0);
  CHECK_FALSE(shell.records().front().server);
  const auto exported = shell.run({"export", "out", "--layout", "load", "--out", "exported"});
  CHECK(exported.exit_code == 1);
  CHECK(contains(exported.errors, "has no Server phase"));
}

TEST_CASE("a stage that dies under load is named, and the sweep goes on") {
  const Shell shell;
  const support::FaultOnce fault("kill@1-3@14");  // ten of the other phases, then the Server phase
  const auto words = kOneTrial + Shell::Words{"--rate", "500", "--queries", "9"};
  CHECK(shell.run(words).exit_code == 1);
  REQUIRE(count(shell.records(), record::Status::failed) == 1);
  CHECK(shell.records().front().failure->stage == 1);
  CHECK_FALSE(shell.records().front().server);
  CHECK(shell.run(words + Shell::Words{"--resume"}).exit_code == 0);
  require_sound(shell.records());
}

TEST_CASE("a file's loads are measured, a flag wins over them, and --scenario offline leaves them out") {
  const Shell shell;
  support::write_file(shell.folder() / "load.json", R"({"server": {"rates": [300], "queries": 7}})");
  const auto planned = [&](const Shell::Words& flags) {
    return shell
        .run(Shell::Words{"sweep", "load.json", "--model", "synthetic:0ms/4kB,0ms", "--data", "random", "--dry-run"} +
             flags)
        .output;
  };
  CHECK(contains(planned({}), "Server at 300 image/s, 7 queries"));
  CHECK(contains(planned({"--rate", "50"}), "Server at 50 image/s, 7 queries"));
  CHECK(contains(planned({"--queries", "8"}), "Server at 300 image/s, 8 queries"));
  CHECK(contains(planned({"--find-max-rate", "p90<1s"}), "Server, highest rate with p90 < 1 s, 7 queries"));
  CHECK_FALSE(contains(planned({"--scenario", "offline"}), "Server"));
}

TEST_CASE("loads that nothing can be measured under are refused, and nothing is run") {
  struct Refused {
    Shell::Words flags;
    std::string named;
  };
  const std::vector<Refused> refusals{
      {{"--scenario", "server"}, "give --rate, or --find-max-rate"},
      {{"--scenario", "sever"}, "did you mean \"server\""},
      {{"--scenario", ""}, "--scenario"},
      {{"--scenario", "offline", "--rate", "5"}, "are for --scenario server"},
      {{"--rate", "5", "--find-max-rate", "p99 < 1s"}, "give one of them"},
      {{"--rate", "fast"}, "--rate is \"fast\""},
      {{"--rate", "5,,6"}, "--rate is \"5,,6\""},
      {{"--rate", "0"}, "rates holds 0;"},
      {{"--rate", "5,5"}, "holds 5 twice"},
      {{"--rate", "5", "--queries", "1"}, "queries is 1"},
      {{"--queries", "10"}, "give --rate or --find-max-rate"},
      {{"--find-max-rate", "p99"}, "p99 < 100ms"},
      {{"--find-max-rate", ""}, "p99 < 100ms"},
      {{"--find-max-rate", "p99 < 0s"}, "no latency at all"},
  };
  for (const auto& [flags, named] : refusals) {
    const Shell shell;
    const auto answer = shell.run(kOneTrial + flags);
    CAPTURE(flags, answer.errors);
    CHECK(answer.exit_code == 2);
    CHECK(contains(answer.errors, named));
    CHECK_FALSE(std::filesystem::exists(shell.folder() / "out"));
  }
}
