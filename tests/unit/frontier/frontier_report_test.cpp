#include <paretopipe/analysis/frontier/frontier.hpp>
#include <paretopipe/analysis/frontier/frontier_report.hpp>
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/render_frontier.hpp>

#include <array>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <support/message_of.hpp>

#include "../stats/dealt_samples.hpp"
#include "measured.hpp"

using namespace paretopipe;
using support::contains;
using testing::measured;
using testing::report_of;
using testing::row_of;

namespace {

using Records = std::vector<record::TrialRecord>;

/// The medians of two repetitions, drawn anew, with their probabilities.
std::array<std::pair<double, double>, 3> medians_of_two(double a, double b) {
  return {{{a, 0.25}, {(a + b) / 2, 0.5}, {b, 0.25}}};
}

}  // namespace

TEST_CASE("the probability of being on the frontier is what an enumeration of all resamples gives") {
  // Of two repetitions each: 1 has latencies 10 and 20 at throughputs 5 and 6, 2 has 12 and 16 at 5.5 and 5.7.
  const auto report =
      report_of({measured(1, 0, 10, 5), measured(1, 1, 20, 6), measured(2, 0, 12, 5.5), measured(2, 1, 16, 5.7)});
  double first = 0, second = 0;
  const auto latency1 = medians_of_two(10, 20), throughput1 = medians_of_two(5, 6);
  const auto latency2 = medians_of_two(12, 16), throughput2 = medians_of_two(5.5, 5.7);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const double weight = latency1[i].second * latency2[j].second;
      // A repetition's latency and throughput stay together: the same index picks both. No two latencies are equal.
      const bool one_beats_two = latency1[i].first < latency2[j].first && throughput1[i].first >= throughput2[j].first;
      const bool two_beats_one = latency2[j].first < latency1[i].first && throughput2[j].first >= throughput1[i].first;
      if (!two_beats_one) first += weight;
      if (!one_beats_two) second += weight;
    }
  }
  REQUIRE(first < 1);
  CHECK(row_of(report, 1).frontier_probability.value() == Approx(first).margin(0.03));
  CHECK(row_of(report, 2).frontier_probability.value() == Approx(second).margin(0.03));
}

TEST_CASE("repetitions that agree leave no doubt, and those that overlap do") {
  Records records;
  for (int repetition = 0; repetition < 5; ++repetition) {
    records.push_back(measured(1, repetition, 10 + repetition % 3, 100 + repetition % 2));
    records.push_back(measured(2, repetition, 11 - repetition % 2, 100 + repetition % 3));
    records.push_back(measured(3, repetition, 50 + repetition, 20 + repetition));
    records.push_back(measured(4, repetition, 5, 50));
    records.push_back(measured(5, repetition, 5, 50));
  }
  const auto report = report_of(records);
  CHECK(row_of(report, 3).frontier_probability == 0.0);
  CHECK(row_of(report, 3).alike.empty());
  CHECK(row_of(report, 4).frontier_probability == 1.0);
  CHECK(row_of(report, 5).frontier_probability == 1.0);
  CHECK(row_of(report, 1).frontier_probability.value() > 0.05);
  CHECK(row_of(report, 1).frontier_probability.value() < 1);
  CHECK(row_of(report, 1).alike == std::vector<std::size_t>{1});
  CHECK(row_of(report, 2).alike == std::vector<std::size_t>{0});
  CHECK(row_of(report, 4).alike == std::vector<std::size_t>{4});
  CHECK(row_of(report, 4).intervals[0] == stats::Interval{5e6, 5e6});
}

TEST_CASE("to differ in one objective is to differ") {
  Records records;
  for (int repetition = 0; repetition < 6; ++repetition) {
    records.push_back(measured(1, repetition, 10 + repetition, 100 + repetition));
    records.push_back(measured(2, repetition, 10 + repetition, 200 + repetition));
  }
  CHECK(row_of(report_of(records), 1).alike.empty());
  const auto alone = frontier::make_frontier_report(records, frontier::parse_objectives({"latency_p50"}));
  CHECK(row_of(alone, 1).alike == std::vector<std::size_t>{1});
}

TEST_CASE("the same seed gives the same probabilities, and other splits do not move an interval") {
  Records records;
  for (int repetition = 0; repetition < 7; ++repetition) {
    records.push_back(measured(1, repetition, 10 + repetition * repetition % 5, 100));
    records.push_back(measured(2, repetition, 11 + repetition * 3 % 4, 101));
  }
  const auto first = report_of(records), again = report_of(records);
  CHECK(row_of(first, 1).frontier_probability == row_of(again, 1).frontier_probability);
  CHECK(row_of(first, 1).intervals == row_of(again, 1).intervals);
  records.push_back(measured(3, 0, 1, 1));
  CHECK(row_of(first, 1).intervals == row_of(report_of(records), 1).intervals);
  CHECK(row_of(first, 1).frontier_probability != row_of(report_of(records, 99), 1).frontier_probability);
}

TEST_CASE("one repetition has no interval and no probability, and still keeps others off the frontier") {
  Records records{measured(1, 0, 1, 1000)};
  for (int repetition = 0; repetition < 3; ++repetition) records.push_back(measured(2, repetition, 10, 100));
  const auto report = report_of(records);
  CHECK_FALSE(row_of(report, 1).intervals[0].has_value());
  CHECK_FALSE(row_of(report, 1).frontier_probability.has_value());
  CHECK(row_of(report, 1).alike.empty());
  CHECK(row_of(report, 2).frontier_probability == 0.0);
}

TEST_CASE("failed and invalid repetitions and splits without an objective take no part in resampling") {
  Records records;
  for (int repetition = 0; repetition < 3; ++repetition) {
    records.push_back(measured(2, repetition, 10 + repetition, 100));
    records.push_back(testing::make_failure(testing::make_trial(3, repetition), "died"));
    records.push_back(measured(4, repetition, 1, 1000));
    records.back().status = record::Status::invalid;
  }
  const auto report = report_of(records);
  CHECK(row_of(report, 2).frontier_probability == 1.0);
  CHECK_FALSE(row_of(report, 3).frontier_probability.has_value());
  CHECK_FALSE(row_of(report, 4).frontier_probability.has_value());
  CHECK(row_of(report, 3).intervals == std::vector<std::optional<stats::Interval>>(2));
}

namespace {

/// `batch` images every `mean_ms` with one batch in flight.
record::TrialRecord with_mean(record::TrialRecord record, double mean_ms) {
  record.summary->latency->mean_ns = mean_ms * 1e6;
  return record;
}

record::TrialRecord local() {
  return with_mean(measured(10, 0, 20, 400), 20);
}

}  // namespace

TEST_CASE("a split's speed-ups are its throughput over all local's, and over its own with one batch in flight") {
  const auto report = report_of({with_mean(measured(3, 0, 10, 600), 16), local()});
  CHECK(*row_of(report, 3).speed_ups.single == Approx(1.5));
  CHECK(*row_of(report, 3).speed_ups.sequential == Approx(600 / (8 / 16e-3)));  // a batch is 8 images
  CHECK(*row_of(report, 10).speed_ups.single == 1);
  CHECK(*row_of(report, 10).speed_ups.sequential == Approx(1));
  const auto nothing = report_of({with_mean(measured(3, 0, 10, 600), 0), measured(10, 0, 20, 0)});
  CHECK_FALSE(row_of(nothing, 3).speed_ups.single.has_value());
  CHECK_FALSE(row_of(nothing, 3).speed_ups.sequential.has_value());
}

TEST_CASE("speed-ups are of medians over the repetitions that count") {
  auto invalid = with_mean(measured(3, 2, 10, 9000), 1);
  invalid.status = record::Status::invalid;
  invalid.failure = record::Failure{"network", std::nullopt, "too slow"};
  const auto report =
      report_of({with_mean(measured(3, 0, 10, 600), 16), with_mean(measured(3, 1, 10, 1000), 16), invalid, local()});
  CHECK(*row_of(report, 3).speed_ups.single == Approx(2));
}

TEST_CASE("without all local in its group, or with one that failed, a split has no speed-up over it") {
  auto elsewhere = local();
  elsewhere.trial.batch = 1;
  auto failed = testing::make_failure(local().trial, "gone");
  for (const auto& other : {elsewhere, failed}) {
    const auto report = report_of({with_mean(measured(3, 0, 10, 600), 16), other});
    CHECK_FALSE(row_of(report, 3).speed_ups.single.has_value());
    CHECK(row_of(report, 3).speed_ups.sequential.has_value());
    const auto text = render::render_text(report, {.width = 200});
    CHECK_FALSE(contains(text.substr(0, text.find("\n\n\n")), "x single"));
    CHECK(contains(text, "x sequential"));
  }
}

namespace {

/// Better than any split in everything.
record::TrialRecord dealt(int repetition, double throughput = 1200) {
  auto record = testing::dealt_record(testing::make_dealt_trial(2, repetition), {.devices = 2});
  record.summary->latency->p50_ns = 1e6;
  record.summary->throughput_image_per_s = throughput;
  return record;
}

const std::vector<record::TrialRecord> kSweep{dealt(0), measured(3, 0, 10, 600), measured(5, 0, 12, 500),
                                              measured(10, 0, 20, 400)};

}  // namespace

TEST_CASE("data parallelism is a row of its own after the splits, and meets no frontier") {
  const auto report = report_of(kSweep);
  REQUIRE(report.groups.size() == 1);
  const auto& group = report.groups.front();
  REQUIRE(group.rows.size() == 4);
  const auto& row = group.rows.back();
  CHECK_FALSE(row.is_split());
  CHECK_FALSE(row.on_frontier);
  CHECK_FALSE(row.compared());
  CHECK(row.values == std::vector<std::optional<double>>{1e6, 1200});
  CHECK(group.rows[0].on_frontier);
  CHECK(group.recommendation->balanced.option == 0);
  CHECK(group.settings().split_points == std::vector{3});
}

TEST_CASE("every split has its throughput over data parallelism's, and it has its own over the single device's") {
  const auto report = report_of(kSweep);
  const auto& rows = report.groups.front().rows;
  CHECK(*rows[0].speed_ups.data_parallel == Approx(0.5));
  CHECK(*rows[3].speed_ups.data_parallel == 1);
  CHECK(*rows[3].speed_ups.single == 3);
  const auto without = report_of({measured(3, 0, 10, 600), measured(10, 0, 20, 400)});
  CHECK_FALSE(without.groups.front().rows[0].speed_ups.data_parallel.has_value());
}

TEST_CASE("every format shows data parallelism as a baseline, and counts the splits without it, as golden files say") {
  const auto report = report_of(kSweep);
  for (const auto& [ending, text] : {std::pair("txt", render::render_text(report, {.width = 200})),
                                     {"md", render::render_markdown(report)},
                                     {"csv", render::render_csv(report)},
                                     {"json", render::render_json(report)}}) {
    CHECK(text == support::golden(std::string("report/data_parallel.") + ending, text));
  }
}

TEST_CASE("what failed of data parallelism is told of it and of no split, and it is shown without a split too") {
  const auto report = report_of({testing::make_failure(testing::make_dealt_trial(2), "gone"), measured(3, 0, 10, 600)});
  const auto text = render::render_text(report, {.width = 200});
  CHECK(contains(text, "  data-parallel on 2 devices failed in 1 of 1 repetitions: run, stage 1: gone"));
  CHECK_FALSE(contains(text, "x data-parallel"));
  const auto alone = render::render_text(report_of({dealt(0)}), {.width = 200});  // of a sweep that was stopped
  CHECK(contains(alone, "No split can be recommended"));
  CHECK(contains(alone, "data-parallel"));
}

TEST_CASE("layouts that go by stages leave data parallelism out and say so; the others have it") {
  const std::vector<record::TrialRecord> records{dealt(0)};
  for (const auto* layout : {"trace", "python"}) {
    const auto made = render::find_export_layout(layout).make(records);
    CHECK(made.files.empty());
    REQUIRE(made.left_out.size() == 1);
    CHECK(contains(made.left_out.front(), "data-parallel on 2 devices"));
  }
  for (const auto* layout : {"trials", "stages", "batches"}) {
    const auto made = render::find_export_layout(layout).make(records);
    CHECK(made.left_out.empty());
    REQUIRE(made.files.size() == 1);
    CHECK(contains(made.files.front().content, ",data-parallel,"));
  }
}
