// How the baseline that splits nothing is shown beside the splits.
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/render_frontier.hpp>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "../stats/dealt_samples.hpp"
#include "measured.hpp"

using namespace paretopipe;
using support::contains;
using testing::measured;

namespace {

/// Better than any split in everything.
record::TrialRecord dealt(int repetition, double throughput = 1200) {
  auto record = testing::dealt_record(testing::make_dealt_trial(2, repetition), {.devices = 2});
  record.summary->latency->p50_ns = 1e6;
  record.summary->throughput_image_per_s = throughput;
  return record;
}

frontier::FrontierReport baseline_report_of(const std::vector<record::TrialRecord>& records) {
  return frontier::make_frontier_report(records, frontier::parse_objectives({}));
}

const std::vector<record::TrialRecord> kSweep{dealt(0), measured(3, 0, 10, 600), measured(5, 0, 12, 500),
                                              measured(10, 0, 20, 400)};

}  // namespace

TEST_CASE("data parallelism is a row of its own after the splits, and meets no frontier") {
  const auto report = baseline_report_of(kSweep);
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
  const auto report = baseline_report_of(kSweep);
  const auto& rows = report.groups.front().rows;
  CHECK(*rows[0].speed_ups.data_parallel == Approx(0.5));
  CHECK(*rows[3].speed_ups.data_parallel == 1);
  CHECK(*rows[3].speed_ups.single == 3);
  const auto without = baseline_report_of({measured(3, 0, 10, 600), measured(10, 0, 20, 400)});
  CHECK_FALSE(without.groups.front().rows[0].speed_ups.data_parallel.has_value());
}

TEST_CASE("every format shows data parallelism as a baseline, and counts the splits without it") {
  const auto report = baseline_report_of(kSweep);
  const auto text = render::render_text(report, {.width = 200});
  CHECK(contains(text, "x data-parallel"));
  CHECK(contains(text, "baseline"));
  CHECK(contains(text, "1 of 3 splits is on the frontier"));
  CHECK(contains(text, "x data-parallel: times the whole model's on as many devices, batches dealt out in turn"));
  const auto markdown = render::render_markdown(report);
  CHECK(contains(markdown, "x data-parallel |"));
  CHECK(contains(markdown, "| data-parallel |"));
  const auto csv = render::render_csv(report);
  CHECK(contains(csv, ",speed_up_data_parallel,"));
  CHECK(contains(csv, "resnet18,data-parallel,"));
  const auto group = nlohmann::json::parse(render::render_json(report)).at("groups").at(0);
  CHECK(group.at("splits").at(0).at("speed_up_data_parallel") == 0.5);
  const auto& last = group.at("splits").at(3);
  CHECK(last.at("label") == "data-parallel on 2 devices");
  CHECK(last.at("devices") == 2);
  CHECK(last.at("split_points").empty());
  CHECK_FALSE(last.contains("on_frontier"));
  CHECK_FALSE(group.at("settings").contains("data_parallel"));
}

TEST_CASE("what failed of data parallelism is told of it and of no split") {
  const auto report =
      baseline_report_of({testing::make_failure(testing::make_dealt_trial(2), "gone"), measured(3, 0, 10, 600)});
  const auto text = render::render_text(report, {.width = 200});
  CHECK(contains(text, "  data-parallel on 2 devices failed in 1 of 1 repetitions: run, stage 1: gone"));
  CHECK_FALSE(contains(text, "x data-parallel"));
}

TEST_CASE("a sweep that was stopped after data parallelism alone is shown without a split") {
  const auto text = render::render_text(baseline_report_of({dealt(0)}), {.width = 200});
  CHECK(contains(text, "No split can be recommended"));
  CHECK(contains(text, "data-parallel"));
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
