#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/render/render_frontier.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "sweep.hpp"

using namespace paretopipe;
using support::contains;
using Records = std::vector<record::TrialRecord>;

namespace {

record::TrialRecord a_record(int split = 3, int repetition = 0) {
  return testing::make_record(testing::make_trial(split, repetition), {5'000'000, 4'000'000, 3'000'000, 20'000}, 8000);
}

record::TrialRecord not_ok(record::TrialRecord record, const std::string& reason) {
  record.status = record::Status::invalid;
  record.failure = record::Failure{"conditions", std::nullopt, reason};
  return record;
}

/// One of everything, in split 3: a slow window before repetition 1, outliers, a late warm-up, a disturbance.
Records eventful() {
  Records records{a_record(3, 0), a_record(3, 1), a_record(3, 2), a_record(3, 3)};
  records[0].outliers = record::Outliers{{7}, {4, 5, 6, 9}};
  records[0].stages[1].usage.major_page_faults = 12;
  records[1].single_stream->warmup += 1;
  records[1].offline->warmup += 3;
  records[2].stages[0].usage.major_page_faults = 3;
  return records;
}

frontier::FrontierReport report_with_incidents(const Records& records, const Records& replaced = {}) {
  return frontier::make_frontier_report(records, frontier::parse_objectives({}), {}, replaced);
}

std::string happened(const record::TrialRecord& record, bool again = false) {
  return frontier::what_happened(frontier::incident_of(record, again).value());
}

}  // namespace

TEST_CASE("a trial in which nothing happened is no incident, and neither is a failure") {
  CHECK_FALSE(frontier::incident_of(a_record(), false));
  CHECK_FALSE(frontier::incident_of(testing::make_failure(testing::make_trial(3), "gone"), false));
  auto empty = a_record();
  empty.outliers = record::Outliers{};
  CHECK_FALSE(frontier::incident_of(empty, false));
}

TEST_CASE("what happened is told by batch, run and stage, with what the record shows of its cause") {
  const auto records = eventful();
  CHECK(happened(records[0]) == "outliers: batch 7 of the latency run and batches 4-6,9 of the throughput run");
  CHECK(frontier::incident_of(records[0], false)->disturbances ==
        std::vector<std::string>{"stage 1 waited 12 times for pages from disk"});
  CHECK(happened(records[1]) ==
        "the warm-up of the latency run became 1 batch longer; the warm-up of the throughput run became 3 batches "
        "longer");
  CHECK(happened(records[2]) == "disturbed, and counts all the same");
  auto slower = a_record(3, 0);
  slower.slow_downs = {{true, 1, 20, 1e6, 1.5e6}};
  CHECK(happened(slower) == "stage 1 took 1.5 times as long for a batch from batch 20 of the throughput run on");
  const std::vector incidents{*frontier::incident_of(slower, false)};
  CHECK(frontier::summarise(incidents) == "1 trial with a stage that became slower");
}

TEST_CASE("what does not count says why, and its outliers matter to nobody") {
  const auto invalid = not_ok(eventful()[0], "the round trip is 23 ms");
  for (const bool again : {false, true}) {
    const auto incident = frontier::incident_of(invalid, again).value();
    CHECK(frontier::what_happened(incident) == (again ? "measured again" : "does not count"));
    CHECK(incident.reason == "the round trip is 23 ms");
    CHECK(incident.outliers.empty());
    CHECK(incident.disturbances.empty());
  }
  CHECK(happened(testing::make_failure(testing::make_trial(3), "gone"), true) == "measured again");
  CHECK(frontier::incident_of(a_record(), true)->reason.empty());
}

TEST_CASE("a group has its incidents in the order of splits and repetitions, what was replaced before what counts") {
  auto records = eventful();
  auto other = a_record(5, 0);
  other.outliers = record::Outliers{{3}, {}};
  records.insert(records.begin(), other);
  auto elsewhere = a_record(3, 0);
  elsewhere.trial.batch = 1;
  records.push_back(elsewhere);
  const auto report = report_with_incidents(records, {not_ok(a_record(3, 1), "slow"), not_ok(a_record(3, 0), "slow")});
  REQUIRE(report.groups.size() == 2);
  std::string order;
  for (const auto& incident : report.groups[0].incidents) {
    order += fmt::format("{}/{}{} ", incident.cut.split_points[0], incident.repetition,
                         incident.consequence == frontier::Consequence::measured_again ? " again" : "");
  }
  CHECK(order == "3/0 again 3/0 3/1 again 3/1 3/2 5/0 ");
  CHECK(report.groups[1].incidents.empty());
}

TEST_CASE("a replaced record enters no number") {
  auto slow = not_ok(a_record(3, 1), "slow");
  slow.summary->latency->p50_ns *= 100;
  const auto with = report_with_incidents(eventful(), {slow});
  const auto without = report_with_incidents(eventful());
  CHECK(with.groups[0].rows[0].values == without.groups[0].rows[0].values);
  CHECK(with.groups[0].rows[0].configuration.count() == 4);
  auto stranger = not_ok(a_record(), "slow");  // of a trial that is not there: it belongs nowhere, and is no harm
  stranger.trial.model = "stranger";
  CHECK(report_with_incidents({a_record()}, {stranger}).groups[0].incidents.empty());
}

TEST_CASE("the summary counts what happened") {
  CHECK(frontier::summarise({}).empty());
  const auto quiet = report_with_incidents({a_record()});
  CHECK(frontier::summarise(quiet.groups[0].incidents).empty());
  auto records = eventful();
  records.push_back(not_ok(a_record(3, 4), "the round trip is 23 ms"));
  const auto report = report_with_incidents(records, {not_ok(a_record(3, 1), "slow"), not_ok(a_record(3, 1), "slow")});
  CHECK(
      frontier::summarise(report.groups[0].incidents) ==
      "2 measurements made again; 1 trial not counted; 2 trials disturbed, but counted; 1 trial with a longer warm-up; "
      "1 trial with outliers");
}

TEST_CASE("frontier tells of incidents in one line, and nothing where nothing happened") {
  const auto loud = report_with_incidents(eventful());
  const auto quiet = report_with_incidents({a_record()});
  for (const auto render : {+[](const frontier::FrontierReport& report) { return render::render_text(report, {}); },
                            +[](const frontier::FrontierReport& report) { return render::render_markdown(report); }}) {
    CHECK(contains(render(loud),
                   "2 trials disturbed, but counted; 1 trial with a longer warm-up; 1 trial with outliers."));
    CHECK_FALSE(contains(render(quiet), "Disturbances"));
  }
}

TEST_CASE("the JSON has every incident, and no key for what did not happen") {
  const auto report = report_with_incidents(eventful(), {not_ok(a_record(3, 1), "slow\x1b")});
  const auto json = nlohmann::json::parse(render::render_json(report));
  const auto& incidents = json.at("groups").at(0).at("incidents");
  REQUIRE(incidents.size() == 4);
  CHECK(incidents[0].at("split_points") == std::vector{3});
  CHECK(incidents[0].at("outliers_offline") == std::vector{4, 5, 6, 9});
  CHECK(incidents[0].at("disturbances").size() == 1);
  CHECK_FALSE(incidents[0].contains("reason"));
  CHECK(incidents[1].at("happened") == "measured again");
  CHECK(incidents[1].at("reason") == "slow\x1b");
  CHECK_FALSE(incidents[1].contains("outliers_offline"));
  CHECK_FALSE(nlohmann::json::parse(render::render_json(report_with_incidents({a_record()})))
                  .at("groups")
                  .at(0)
                  .contains("incidents"));
}
