#include <paretopipe/render/frontier_words.hpp>
#include <paretopipe/render/page/page.hpp>

#include <string>
#include <utility>

#include <support/catch.hpp>
#include <support/golden.hpp>
#include <support/message_of.hpp>

#include "../calibration/perfect.hpp"
#include "../record/records.hpp"
#include "../render/sweep.hpp"

using namespace paretopipe;
using Json = nlohmann::ordered_json;

namespace {

const Json& split_of(const Json& data, const char* split) {
  for (const auto& one : data.at("groups").at(0).at("splits")) {
    if (one.at("split") == split) return one;
  }
  throw std::out_of_range("no such split");
}

}  // namespace

TEST_CASE("every group of the records is there, with what is known of its splits, as the golden file says") {
  const auto data = page::make_page_data(testing::sweep());
  CHECK(data.at("loads").empty());
  std::string text;  // a line for each group and each split
  for (auto group : data.at("groups")) {
    const auto splits = std::exchange(group["splits"], nullptr);
    text += group.dump() + "\n";
    for (const auto& split : splits) text += split.dump() + "\n";
  }
  CHECK(text == support::golden("report/page_data.jsonl", text));
  const auto& twice = split_of(data, "5").at("metrics").at("latency_p50");  // with its interval
  CHECK(twice.at(1) < twice.at(0));
  CHECK(twice.at(0) < twice.at(2));
  const auto empty = page::make_page_data({});
  CHECK(empty.at("groups").empty());
  CHECK(empty.at("stages").empty());
  CHECK_FALSE(empty.at("provenance").contains("first"));
}

TEST_CASE("a network's numbers come with how long before the trials they were measured") {
  auto records = testing::sweep();
  CHECK_FALSE(page::make_page_data(records).at("groups").at(0).at("evidence").contains("probed_before_ns"));
  std::int64_t before_ns = 0;
  for (auto& record : records) {
    experiment::LinkProbe probe;
    probe.before_trial_ns = before_ns += 1'000;
    record.network.emplace().probes = {probe};
  }
  const auto data = page::make_page_data(records);
  const auto ages = data.at("groups").at(0).at("evidence").at("probed_before_ns").get<std::vector<std::int64_t>>();
  REQUIRE(ages.size() == 2);
  CHECK(ages.front() == 1'000);
  CHECK(ages.back() > ages.front());
}

TEST_CASE("the conclusion and each split's probability are the frontier's own") {
  const auto records = testing::sweep();
  const auto data = page::make_page_data(records);
  const auto report = frontier::make_frontier_report(records, frontier::parse_objectives({}));
  CHECK(data.at("groups").at(0).at("headline") == render::headline(report, report.groups[0]));
  CHECK(split_of(data, "10").at("frontier_probability") == *report.groups[0].rows.back().frontier_probability);
  CHECK_FALSE(split_of(data, "3").contains("frontier_probability"));
  CHECK(data.at("families").empty());
}

TEST_CASE("the page's axes are what its trials measured") {
  CHECK(page::make_page_data(testing::sweep()).at("objectives") == Json{"latency_p50", "throughput"});
  auto records = testing::sweep();
  std::erase_if(records, [](const auto& record) { return record.status != record::Status::ok; });
  for (auto& record : records) record = testing::in_phases(std::move(record), experiment::Phases::offline);
  const auto data = page::make_page_data(records);
  CHECK(data.at("objectives") == Json{"throughput", "payload"});
  CHECK(split_of(data, "5").at("breakdown").empty());
  CHECK_FALSE(split_of(data, "5").at("utilisation").empty());
  CHECK(split_of(data, "10").contains("on_frontier"));
}

TEST_CASE("the parts of the breakdown add up to the mean of the mean latencies") {
  const auto records = testing::sweep();
  const auto data = page::make_page_data(records);
  double sum = 0;
  for (const auto& part : split_of(data, "5").at("breakdown")) sum += part.at("ns").get<double>();
  CHECK(sum == Approx((records[4].summary->latency->mean_ns + records[5].summary->latency->mean_ns) / 2));
}

TEST_CASE("every cut of a longer pipeline is a depth of its own") {
  auto record = testing::ok_record();
  record.trial.split_points = {3, 7};
  record.links = {{0, 1, 1000, 64}, {1, 2, 125, 64, 500}, {2, 0, 40, 64}};  // the second is encoded
  const auto data = page::make_page_data(std::vector{record});
  CHECK(data.at("groups").at(0).at("activations") == Json{{3, 1000}, {7, 500}});
}

TEST_CASE("utilisation is one median a stage") {
  auto records = std::vector{testing::ok_record(0), testing::ok_record(1), testing::ok_record(2)};
  records[1].summary->stages[1].utilisation = 0.9;
  records[2].summary->stages[1].utilisation = 0.7;
  const auto data = page::make_page_data(records);
  CHECK(split_of(data, "5").at("utilisation") == Json{0.75, 0.7});
}

TEST_CASE("machines are told once, with the range of what changed") {
  auto records = std::vector{testing::ok_record(0), testing::ok_record(1)};
  records[1].stages[0].state.load_average_1min = 3;
  const auto stages = page::make_page_data(records).at("stages");
  REQUIRE(stages.size() == 2);
  CHECK(stages.at(0).at("trials") == 2);
  CHECK(stages.at(0).at("load_average_1min") == Json{0.25, 3.0});
  CHECK(stages.at(1).at("load_average_1min") == Json{1.25, 1.25});
  records[1].stages[1].host.hostname = "other";  // it moved there
  CHECK(page::make_page_data(records).at("stages").size() == 3);
}

TEST_CASE("provenance counts the trials and tells each command once") {
  const std::vector records{testing::ok_record(0), testing::ok_record(1), testing::failed_record(2)};
  const auto provenance = page::make_page_data(records).at("provenance");
  CHECK(provenance.at("trials") == 3);
  CHECK(provenance.at("failed") == 1);
  CHECK(provenance.at("first") == "2026-01-01T00:00:00Z");
  CHECK(provenance.at("commands").at(0) == "paretopipe sweep --out 'x y'");
}

TEST_CASE("what disturbed a group's trials is told with its cause, and a quiet group has nothing to tell") {
  auto records = testing::sweep();
  records[5].outliers = record::Outliers{{4}, {}};
  records[5].stages[0].usage.major_page_faults = 2;
  auto slow = records[4];
  slow.status = record::Status::invalid;
  slow.failure = record::Failure{"conditions", std::nullopt, "a slow window"};
  const std::vector replaced{slow};
  const auto data = page::make_page_data(records, {.replaced = replaced});
  const Json expected{
      {"summary", "1 measurement made again; 1 trial disturbed, but counted; 1 trial with outliers"},
      {"trials",
       {{{"split", "5/10"}, {"repetition", 1}, {"happened", "measured again"}, {"causes", {"a slow window"}}},
        {{"split", "5/10"},
         {"repetition", 2},
         {"happened", "outliers: batch 4 of the latency run"},
         {"causes", {"stage 0 waited 2 times for pages from disk"}}}}}};
  CHECK(data.at("groups").at(0).at("disturbances") == expected);
  CHECK_FALSE(data.at("groups").at(1).contains("disturbances"));
  CHECK(split_of(data, "5").at("metrics") == split_of(page::make_page_data(records), "5").at("metrics"));
}

TEST_CASE(
    "groups that differ in their load only share one chart: a curve a split, a point a rate, medians of repetitions") {
  const auto data = page::make_page_data(testing::under_load());
  REQUIRE(data.at("groups").size() == 3);
  CHECK(data.at("groups").at(2).at("load") == "Server at 400 image/s, 20 queries");
  REQUIRE(data.at("loads").size() == 1);
  const auto& load = data.at("loads").at(0);
  CHECK(load.at("groups") == Json{0, 1, 2});
  CHECK(load.at("bounds").empty());
  REQUIRE(load.at("curves").size() == 2);
  const auto& curve = load.at("curves").at(0);
  CHECK(curve.at("split") == "3");
  REQUIRE(curve.at("points").size() == 3);
  const auto& last = curve.at("points").at(2);
  CHECK(last.at("rate") == 400);
  CHECK(last.at("achieved") == 300);
  CHECK(last.at("saturated") == true);
  CHECK(last.at("repetitions") == 2);
  CHECK(last.at("p99") == 90e6);
  CHECK(load.at("curves").at(1).at("points").at(2).at("saturated") == false);
}

TEST_CASE("the rates of a search are points of its split's curve, beside the limit that they had to keep") {
  auto records = testing::under_load();
  records.resize(1);
  records[0].trial.server = experiment::ServerLoad{0, experiment::parse_latency_bound("p90 < 30ms"), 20};
  records[0].server->runs.push_back(records[0].server->runs.front());
  records[0].server->runs.back().rate_image_per_s = 50;
  const auto data = page::make_page_data(records);
  const auto& load = data.at("loads").at(0);
  CHECK(load.at("bounds") == Json::array({{{"statistic", "p90"}, {"limit_ns", 30'000'000}}}));
  const auto& points = load.at("curves").at(0).at("points");
  REQUIRE(points.size() == 2);
  CHECK(points.at(0).at("rate") == 50);
  CHECK(points.at(1).at("rate") == 100);
}

TEST_CASE("the data sheet is there as calibrate shows it, and only where there is one") {
  const auto grid = calibration::quick_grid();
  const auto sheet = testing::sheet_of(grid, testing::measured_grid(grid, {.transfer_ns = 2'000'000}));
  const auto data = page::make_page_data(std::vector{testing::ok_record()}, {.data_sheet = sheet}).at("calibration");
  CHECK(data.at("kept") == false);
  CHECK(support::contains(data.at("verdict").get<std::string>(), "MISSED"));
  CHECK(support::contains(data.at("preamble").at(0).get<std::string>(), "2026-01-01T00:00:00Z"));
  CHECK(support::contains(data.at("doubts").at(0).get<std::string>(), "the trials ran on host (Some CPU, 4 CPUs)"));
  CHECK(data.at("remarks").empty());
  for (const auto* name : {"summary", "cells"}) {
    const auto& table = data.at(name);
    CHECK(table.at("rows").size() == 8);
    for (const auto& row : table.at("rows")) CHECK(row.size() == table.at("headings").size());
  }
  CHECK_FALSE(page::make_page_data(testing::sweep()).contains("calibration"));
}
