// Scenarios alone and side by side, and the order in which trials run, as from a shell. How long things take decides
// nothing here: rates are far below, or far above, what any machine can do.
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/record/metric.hpp>

#include <map>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

const Words kAlone = kSweep + "--scenario single-stream";
const Words kOneTrial = kOneRepetition + "--split 1";

/// Every trial is right, has one phase of so many batches, and nothing of the other one.
void require_one_phase(const std::vector<record::TrialRecord>& records, bool offline, std::size_t batches = 5) {
  for (const auto& record : records) {
    INFO(record.trial.label());
    REQUIRE(record.status == record::Status::ok);
    REQUIRE(record.single_stream.has_value() != offline);
    REQUIRE(record.offline.has_value() == offline);
    REQUIRE((offline ? record.offline : record.single_stream)->results.completed.size() == batches);
    REQUIRE(record.fidelity->batches_compared == static_cast<int>(batches));
    REQUIRE(record.fidelity->max_abs_difference == 0);
    REQUIRE_NOTHROW(stats::check_summary(record));
  }
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

/// The plan of a sweep of that file, with these flags.
std::string planned(const Shell& shell, const std::string& file, const std::string& flags) {
  return shell.run("sweep " + file + " --model synthetic:0ms/4kB,0ms --data random --split 1 --dry-run " + flags)
      .output;
}

}  // namespace

TEST_CASE("a scenario alone measures its phase only, and says so in trials and tables") {
  const Shell shell;
  const bool offline = GENERATE(false, true);
  shell.run(0, offline ? kSweep + "--scenario offline" : kAlone);
  const auto records = shell.records();
  CHECK(records.size() == kTrials);
  require_one_phase(records, offline);
  const std::string only = offline ? "offline only" : "single-stream only";
  CHECK(contains(records.front().trial.label(), only));
  check_contains(shell.run(0, "frontier out").output,
                 {only,
                  offline ? "on the frontier of throughput:max and payload:min"
                          : "on the frontier of latency_p50:min and payload:min",
                  offline ? "x sequential is left out" : "Speed-ups over baselines are left out"});
  CHECK(contains(shell.run("frontier out --format csv").output, offline ? ",offline," : ",single-stream,"));
  shell.run(0, "plot out -o x.svg");
  export_in(shell, {"trials", "stages", "batches", "jsonl"});
  CHECK(occurrences(shell.text("exported/batches.csv"), "\n") == 1 + kTrials * 5);
  CHECK(contains(shell.run(0, "compare out out").output,
                 offline ? "latency_p50 was not measured" : "throughput was not measured"));
}

TEST_CASE(
    "what a phase that was not measured would say is missed in a sentence, and not shown as a number; trials of both "
    "phases lie beside it in a group of their own") {
  const Shell shell;
  shell.run(0, kAlone);
  CHECK(contains(shell.run(1, "frontier out --objective throughput").output,
                 "were measured single-stream only, which gives no throughput; try --objective latency_p50 --objective "
                 "payload"));
  CHECK(contains(shell.run(1, "frontier out --where 'throughput > 1'").output,
                 "it has no throughput (it was measured single-stream only)"));
  CHECK(contains(shell.run(1, "explain out").output,
                 "is found from both phases, and this was measured single-stream only"));
  shell.run(1, "plot out -o x.svg --objective latency_p50 --objective throughput");
  CHECK(contains(shell.run(1, "compare out out --fail-on 'throughput < -5%' --strict").output,
                 "neither side has throughput"));
  shell.run(0, kSweep + "--resume");
  shell.run(0, kAlone + "--resume");
  CHECK(shell.records().size() == 2 * kTrials);
  check_contains(shell.run(0, "frontier out").output, {"single-stream only", "which gives no throughput; try",
                                                       "on the frontier of latency_p50:min and throughput:max"});
}

TEST_CASE("a Server phase comes after the phases that are named beside it, and after both by itself") {
  const Shell shell;
  const auto run = [&](const std::string& scenario) {
    shell.run(0, kOneTrial + ("--rate 500 --queries 9 --resume --scenario " + scenario));
    return shell.records().back();
  };
  const auto alone = run("single-stream,server");
  CHECK(alone.server);
  CHECK(alone.single_stream);
  CHECK_FALSE(alone.offline);
  CHECK(alone.fidelity->batches_compared == 5 + 10);
  export_in(shell, {"load"});
  CHECK(contains(shell.text("exported/load.csv"), ",unshaped,,500,"));
  CHECK_FALSE(run("server,offline").single_stream);
  const auto both = run("server");
  CHECK(both.single_stream);
  CHECK(both.offline);
  CHECK(both.trial.phases == experiment::Phases::both);
}

TEST_CASE("a file says which phases and loads there are, and a flag wins over it") {
  const Shell shell;
  shell.write("phases.json", R"({"phases": "offline"})");
  CHECK(contains(planned(shell, "phases.json", ""), "offline only repetition 1"));
  CHECK(contains(planned(shell, "phases.json", "--scenario single-stream"), "single-stream only repetition 1"));
  CHECK_FALSE(contains(planned(shell, "phases.json", "--scenario offline,single-stream"), "only"));
  shell.write("load.json", R"({"server": {"rates": [300], "queries": 7}})");
  CHECK(contains(planned(shell, "load.json", ""), "Server at 300 image/s, 7 queries"));
  CHECK(contains(planned(shell, "load.json", "--rate 50"), "Server at 50 image/s, 7 queries"));
  CHECK(contains(planned(shell, "load.json", "--queries 8"), "Server at 300 image/s, 8 queries"));
  CHECK(contains(planned(shell, "load.json", "--find-max-rate p90<1s"),
                 "Server, highest rate with p90 < 1 s, 7 queries"));
  CHECK_FALSE(contains(planned(shell, "load.json", "--scenario offline"), "Server"));
}

TEST_CASE("phases and loads that nothing can be measured in are refused, and nothing is run") {
  check_refused(Shell(), kOneTrial,
                {{"--scenario single-stream,server --find-max-rate 'p99 < 1s'", "begins at half the throughput"},
                 {"--scenario single-stream --depth 1,4", "experiment.depth is a list"},
                 {"--scenario offline --baseline sequential", "the baseline sequential compares the two phases"},
                 {"--scenario single", "it must be single-stream, offline or server"},
                 {"--scenario server", "give --rate, or --find-max-rate"},
                 {"--scenario sever", "did you mean \"server\""},
                 {"--scenario ''", "--scenario"},
                 {"--scenario offline --rate 5", "are for --scenario server"},
                 {"--rate 5 --find-max-rate 'p99 < 1s'", "give one of them"},
                 {"--rate fast", "--rate is \"fast\""},
                 {"--rate 5,,6", "--rate is \"5,,6\""},
                 {"--rate 0", "rates holds 0;"},
                 {"--rate 5,5", "holds 5 twice"},
                 {"--rate 5 --queries 1", "queries is 1"},
                 {"--queries 10", "give --rate or --find-max-rate"},
                 {"--find-max-rate p99", "p99 < 100ms"},
                 {"--find-max-rate ''", "p99 < 100ms"},
                 {"--find-max-rate 'p99 < 0s'", "no latency at all"}});
}

TEST_CASE("one phase can be measured as often as it takes, and with batches dealt out") {
  const Shell shell;
  shell.run(0, kInstantSweep + "--scenario single-stream --warmup 1 --repeat auto --max-repeat 3");
  require_one_phase(shell.records(), false);
  const Shell other;
  other.run(0, sweep_of("synthetic:0ms/4kB,0ms/64kB,0ms") +
                   "--scenario offline --stages 3 --partitions 1,2 --baseline data-parallel --batches 6 --warmup 1 "
                   "--repeat 1");
  require_one_phase(other.records(), true, 7);
}

TEST_CASE("every repetition visits every combination, and records say in which order they ran") {
  const Shell shell;
  const auto words = kInstantSweep + "--warmup 1 --split 1,2 --batch 1,2,4 --depth 1,2";
  shell.run(0, words + "--repeat 1");
  shell.run(0, words + "--repeat 3 --resume");
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
  export_in(shell, {"trials"});
  CHECK(contains(shell.text("exported/trials.csv"), ",started_at,position,"));
  shell.run(0, "merge out --out merged");
  CHECK(shell.records("merged") == records);
}

TEST_CASE("every rate of a list is measured at every split, and its latencies are metrics") {
  const Shell shell;
  shell.run(0, kOneRepetition + "--scenario server --rate 400,200 --queries 12");
  std::map<double, int> rates;
  const auto records = shell.records();
  require_sound(records);
  for (const auto& record : records) {
    ++rates[record.server->runs.front().rate_image_per_s];
    CHECK(record.server->runs.front().moments.scheduled.size() == 13);
    CHECK(value_of(record, "server_latency_p99") >= value_of(record, "server_latency_min"));
    CHECK(value_of(record, "server_rate") > 0);
    CHECK_FALSE(record::find_metric("max_rate").value(record).has_value());
  }
  CHECK(rates == std::map<double, int>{{200, 4}, {400, 4}});
  check_contains(shell.run(0, "frontier out --objective server_latency_p99:min --objective throughput").output,
                 {"Server at 400 image/s, 12 queries", "server_latency_p99"});
}

TEST_CASE("a rate beyond all measure is said to be saturated") {
  const Shell shell;
  const auto sweep = shell.run(
      0, sweep_of("synthetic:1ms/4kB,0ms") + "--split 1 --batches 2 --warmup 0 --repeat 1 --rate 1M --queries 20");
  CHECK(contains(sweep.output, "saturated"));
  CHECK(shell.records().front().server->runs.front().summary.saturated);
}

TEST_CASE("a search ends between a rate that kept the bound and one that did not, and exports what it tried") {
  const Shell shell;
  const auto sweep = shell.run(sweep_of("synthetic:1ms/4kB,1ms") +
                               "--split 1,2 --batches 4 --warmup 1 --repeat 1 --find-max-rate 'p50 < 5s' --queries 40");
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
  const auto frontier = shell.run("frontier out --objective max_rate:max --objective latency_p50");
  CHECK(contains(frontier.output, "Server, highest rate with p50 < 5 s, 40 queries"));
  export_in(shell, {"load"});
  const auto csv = shell.text("exported/load.csv");
  CHECK(occurrences(csv, "\n") == 1 + records[0].server->runs.size() + records[1].server->runs.size());
  CHECK(contains(csv, ",p50 < 5 s,false,"));
}

TEST_CASE("a bound that no rate keeps is an answer, and a bad one") {
  const Shell shell;
  const auto sweep = shell.run(1, kOneTrial + "--find-max-rate 'max < 1ns' --queries 5");
  CHECK(contains(sweep.output, "1 trial: the latency bound is not kept"));
  require_sound(shell.records());
  CHECK_FALSE(shell.records().front().server->max_rate->kept_image_per_s);
}

TEST_CASE("trials without a Server phase are not in the export of loads, which says so") {
  const Shell shell;
  shell.run(0, kOneTrial + "--scenario offline,single-stream");
  CHECK_FALSE(shell.records().front().server);
  CHECK(contains(shell.run(1, "export out --layout load --out exported").errors, "has no Server phase"));
}

TEST_CASE("a stage that dies under load is named, and the sweep goes on") {
  const Shell shell;
  const support::FaultOnce fault("kill@1-3@14");  // ten of the other phases, then the Server phase
  const auto words = kOneTrial + "--rate 500 --queries 9";
  shell.run(1, words);
  REQUIRE(count(shell.records(), record::Status::failed) == 1);
  CHECK(shell.records().front().failure->stage == 1);
  CHECK_FALSE(shell.records().front().server);
  shell.run(0, words + "--resume");
  require_sound(shell.records());
}
