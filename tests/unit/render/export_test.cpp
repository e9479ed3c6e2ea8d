#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/record/labels.hpp>
#include <paretopipe/render/exports.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <support/message_of.hpp>

#include "../frontier/measured.hpp"
#include "sweep.hpp"

using namespace paretopipe;
using support::contains;
using support::golden;
using testing::make_record;
using testing::make_trial;
using Selection = render::TrialSelection;

namespace {

record::TrialRecord plain_record(int split = 3) {
  return make_record(make_trial(split), {5000, 4000, 3000, 2000}, 8000);
}

render::Export export_as(const char* layout, const std::vector<record::TrialRecord>& records) {
  return render::find_export_layout(layout).make(records);
}

/// The text of the first file.
std::string text_as(const char* layout, const std::vector<record::TrialRecord>& records) {
  return export_as(layout, records).files.at(0).content;
}

}  // namespace

TEST_CASE("an unknown layout is refused with the names of the known ones") {
  CHECK(contains(support::message_of<Error>([] { render::find_export_layout("perl"); }),
                 "python, trials, stages, batches, load, jsonl, trace"));
}

TEST_CASE("the layout of loads has a row for every rate, and leaves out by name what has none") {
  auto record = plain_record();
  record.trial.server = experiment::ServerLoad{0, experiment::parse_latency_bound("max < 20ns"), 2};
  record.server.emplace();
  record.server->runs.resize(2);
  record.server->runs[0].rate_image_per_s = 12.5;
  record.server->runs[0].summary = {{2, 1, 2, 3, 4, 5, 6, 7}, 12, 11.5, false, 0.5};
  record.server->runs[1].rate_image_per_s = 25;
  record.server->runs[1].summary = {{2, 1, 2, 3, 4, 5, 6, 70}, 24, 11.5, true, 0.5};
  auto failed = record;
  failed.server.reset();
  const auto made = export_as("load", {record, plain_record(4), failed});
  REQUIRE(made.files.size() == 1);
  CHECK(made.files[0].content == golden("report/load.csv", made.files[0].content));
  REQUIRE(made.left_out.size() == 2);
  CHECK(contains(made.left_out[0], "has no Server phase"));
  CHECK(contains(made.left_out[1], "failed"));
  CHECK(export_as("load", {}).files.empty());
}

TEST_CASE("the exported files are what their golden files say") {
  const auto python = export_as("python", testing::sweep()).files.at(1);
  CHECK(python.content == golden("report/resnet18_split_3_metrics.json", python.content));
  const auto trials = export_as("trials", testing::sweep()).files.at(0);
  CHECK(trials.path == "trials.csv");
  CHECK(trials.content == golden("report/trials.csv", trials.content));
}

namespace {

using Row = std::map<std::string, std::string>;

/// Rows of CSV without quoted cells, by column.
std::vector<Row> rows_of(const std::string& csv) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> result(1);
    for (const char c : line) c == ',' ? void(result.emplace_back()) : result.back().push_back(c);
    return result;
  };
  std::istringstream stream(csv);
  std::string line;
  std::getline(stream, line);
  const auto heading = cells(line);
  CHECK(std::set(heading.begin(), heading.end()).size() == heading.size());
  std::vector<Row> rows;
  while (std::getline(stream, line)) {
    const auto values = cells(line);
    REQUIRE(values.size() == heading.size());
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < heading.size(); ++i) row[heading[i]] = values[i];
  }
  return rows;
}

/// The cells of the breakdown: PART_stageN_ns.
std::int64_t sum_of_parts(const Row& row) {
  std::int64_t sum = 0;
  for (const auto* part : {"queue", "compute", "encode", "send_queue", "transfer", "decode"}) {
    for (const int stage : {0, 1, 2}) {
      const auto cell = row.find(fmt::format("{}_stage{}_ns", part, stage));
      if (cell != row.end() && !cell->second.empty()) sum += std::stoll(cell->second);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("the batches' CSV has a row for every batch of both phases, whose parts add up to its latency") {
  const auto made = export_as("batches", testing::sweep());
  CHECK(made.files.at(0).path == "batches.csv");
  const auto rows = rows_of(made.files[0].content);
  CHECK(rows.size() == 10 * 2 * 10);  // ok trials, phases, batches
  CHECK(made.left_out.size() == 3);   // the failed ones
  CHECK(contains(made.left_out[0], "resnet18 split 3/10 batch 8 repetition 2 has no samples"));
  int warmup = 0;
  for (const auto& row : rows) {
    CHECK(sum_of_parts(row) == std::stoll(row.at("latency_ns")));
    CHECK((row.at("warmup") == "true") == (std::stoi(row.at("sequence")) < 2));
    CHECK(row.at("depth") == (row.at("phase") == "offline" ? "4" : "1"));
    warmup += row.at("warmup") == "true" ? 1 : 0;
  }
  CHECK(warmup == 10 * 2 * 2);
}

TEST_CASE("the batches' CSV has a row for every micro-batch, and the last one's latency is the batch's") {
  auto record = plain_record();
  record.trial.micro_batch = 4;
  record.single_stream = testing::micro_batched(*record.single_stream, 2);
  record.offline = testing::micro_batched(*record.offline, 2);
  const auto rows = rows_of(text_as("batches", {record}));
  REQUIRE(rows.size() == 2 * 5 * 2);
  const auto latencies = stats::breakdown(*record.single_stream).latency_ns;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].at("sequence") == std::to_string(i / 2 % 5));
    CHECK(rows[i].at("chunk") == std::to_string(i % 2));
    CHECK((rows[i].at("warmup") == "true") == (i / 2 % 5 < 2));
    CHECK(sum_of_parts(rows[i]) == std::stoll(rows[i].at("latency_ns")));
    if (i < 10 && i % 2 == 1) CHECK(rows[i].at("latency_ns") == std::to_string(latencies[i / 2]));
  }
}

TEST_CASE("the batches' CSV has every moment, and empty cells for what a pipeline does not have") {
  auto three_stages = plain_record();
  std::mt19937 random(7);
  three_stages.single_stream = testing::random_samples(random, 3, 5, 1);
  three_stages.offline = testing::random_samples(random, 3, 5, 1);
  const auto local = make_record(make_trial(10), {5000, 0, 0, 0}, 0);
  const auto rows = rows_of(text_as("batches", {three_stages, local}));
  REQUIRE(rows.size() == 10 + 20);
  const auto& stage = three_stages.offline->stages[2];
  const auto& row = rows[5 + 3];
  CHECK(row.at("phase") == "offline");
  CHECK(row.at("sequence") == "3");
  for (std::size_t i = 0; i < kStageMoments.size(); ++i) {
    CHECK(row.at(fmt::format("{}_stage2_ns", kStageMomentNames[i])) == std::to_string((stage.*kStageMoments[i])[3]));
  }
  for (std::size_t i = 0; i < kResultMoments.size(); ++i) {
    CHECK(row.at(fmt::format("result_{}_ns", kResultMomentNames[i])) ==
          std::to_string((three_stages.offline->results.*kResultMoments[i])[3]));
  }
  CHECK(sum_of_parts(row) == std::stoll(row.at("latency_ns")));
  for (const auto* empty : {"compute_stage1_ns", "transfer_stage0_ns", "send_queue_stage0_ns", "send_begin_stage1_ns"})
    CHECK(rows.back().at(empty).empty());
  CHECK(sum_of_parts(rows.back()) == std::stoll(rows.back().at("latency_ns")));
}

TEST_CASE("the names of the moments are the records'") {
  StageTimeline encoding;
  encoding.codec_begin = {1};
  nlohmann::json stage = encoding;
  for (const auto name : kStageMomentNames) CHECK(stage.erase(std::string(name)) == 1);
  CHECK(stage.empty());
  nlohmann::json results = ResultTimeline{};
  for (const auto name : kResultMomentNames) CHECK(results.erase(std::string(name)) == 1);
  CHECK(results.empty());
}

TEST_CASE(
    "the stages' CSV has a row for every stage that took part, with what it used, and nothing that is not known") {
  auto record = plain_record();
  record.stages.assign(2, {});
  record.stages[1].cpus = "2,3";
  record.stages[1].peak_rss_bytes = 7;
  record.stages[1].memory = host::StageMemory{4, 5, 6};
  record.stages[1].usage = {11, 12, 13, 14, 15, 16};
  record.stages[1].gpu = host::GpuUsage{.utilisation = 0.75, .samples = 4};
  record.stages[1].emulated_device = record::EmulatedDevice{
      .profile = "a board", .device = 1, .cpu_quota = 0.45, .memory_limit_bytes = 512, .cgroup_version = 2};
  record.stages[1].conditions = host::CpuConditions{21, 22, host::CpuTime{31, 32, 33}, 41, 42, 48.5, 52, 0, 0x50005};
  const auto made = export_as("stages", {record, testing::make_failure(make_trial(5), "gone")});
  REQUIRE(made.files.size() == 1);
  CHECK(made.files[0].path == "stages.csv");
  CHECK(made.files[0].content == golden("report/stages.csv", made.files[0].content));
  CHECK(export_as("stages", {testing::make_failure(make_trial(5), "gone")}).files.empty());
  CHECK(export_as("stages", {}).files.empty());
}

TEST_CASE("trials of one phase are exported in every layout that can say them, without the other phase") {
  const auto phases = GENERATE(experiment::Phases::single_stream, experiment::Phases::offline);
  const auto record = testing::in_phases(plain_record(), phases);
  const bool alone = phases == experiment::Phases::single_stream;
  CAPTURE(to_string(phases));
  const auto batches = text_as("batches", {record});
  CHECK(std::count(batches.begin(), batches.end(), '\n') == 1 + 10);
  CHECK(contains(batches, ",single_stream,") == alone);
  CHECK(contains(batches, ",offline,") != alone);
  CHECK(std::ranges::count(text_as("stages", {record}), '\n') == 1 + 2);
  const auto json = nlohmann::json::parse(text_as("jsonl", {record}));
  CHECK(json.contains("latency_p50_ns") == alone);
  CHECK(json.contains("throughput_image_per_s") != alone);
  CHECK(json.at("phases") == to_string(phases));
  const auto trace = nlohmann::json::parse(text_as("trace", {record}));
  CHECK(contains(trace.at("otherData").at("time").get<std::string>(), "the only one"));
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") continue;
    CHECK(event.at("args").at("phase") == (alone ? "single_stream" : "offline"));
    CHECK(event.at("ts") >= 0);
  }
  const auto python = export_as("python", {record});
  CHECK(python.files.empty());
  CHECK(contains(python.left_out.at(0), "was measured " + experiment::describe(phases)));
  auto loaded = record;
  loaded.trial.server = experiment::ServerLoad{12.5, std::nullopt, 2};
  loaded.server.emplace().runs.resize(1);
  CHECK(contains(text_as("load", {loaded}), alone ? ",unshaped,,0," : ",unshaped,1"));
}

TEST_CASE("exports have a clock error where stages had clocks of their own, and no such column where they had none") {
  auto shared = plain_record();
  shared.clocks.resize(2);
  auto own = plain_record(4);
  own.clocks = {{}, {false, -51, -52, 777}};
  for (const auto* layout : {"trials", "batches", "jsonl", "trace"}) {
    CAPTURE(layout);
    CHECK_FALSE(contains(text_as(layout, {shared}), "clock_error_ns"));
    CHECK(contains(text_as(layout, {own}), "clock_error_ns"));
  }
  for (const auto* layout : {"trials", "batches"}) {
    CHECK(contains(text_as(layout, {shared, own}), ",clock_error_ns\n"));
    CHECK(text_as(layout, {shared, own}).ends_with(",777\n"));
  }
  CHECK(contains(text_as("trace", {own}), "\"clock_error_ns\":777"));
}

TEST_CASE("records without samples make no batches' CSV, and damaged ones are named") {
  CHECK(export_as("batches", {testing::make_failure(make_trial(3), "gone")}).files.empty());
  CHECK(export_as("batches", {}).files.empty());
  auto damaged = plain_record();
  damaged.offline->results.completed.pop_back();
  const auto message = support::message_of<UsageError>([&] { export_as("batches", {damaged}); });
  CHECK(contains(message, "resnet18 split 3/10 batch 8 repetition 1: the samples are damaged"));
}

TEST_CASE("JSON Lines have one flat object a trial, with the CSV's columns, numbers as numbers and nothing made up") {
  const auto records = testing::sweep();
  const auto made = export_as("jsonl", records);
  CHECK(made.files.at(0).path == "trials.jsonl");
  std::istringstream stream(made.files[0].content);
  std::size_t count = 0;
  for (std::string line; std::getline(stream, line); ++count) {
    const auto json = nlohmann::json::parse(line);
    for (const auto& [name, value] : json.items()) CHECK_FALSE((value.is_structured() || value.is_null()));
    CHECK(json.at("id") == records[count].trial.id());
    CHECK(json.at("batch").is_number());
    CHECK(json.at("tuning_tune_malloc").is_boolean());
    for (const auto& metric : record::metrics()) {
      const auto value = metric.value(records[count]);
      CHECK(json.contains(record::column_name(metric)) == value.has_value());
      if (value) CHECK(json.at(record::column_name(metric)).get<double>() == *value);
    }
    CHECK(json.contains("failure") == records[count].failure.has_value());
  }
  CHECK(count == records.size());
  CHECK(export_as("jsonl", {}).files.empty());
}

TEST_CASE("no string of a record breaks a line of JSON Lines or a row of the batches' CSV") {
  auto record = plain_record();
  record.trial.model = "a\nb\",\xff";
  record.trial.cpus = {"0\n", "\"1"};
  const auto lines = text_as("jsonl", {record});
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 1);
  CHECK(nlohmann::json::parse(lines).at("cpus") == "0\n | \"1");
  CHECK(contains(text_as("batches", {record}), ",\"a\nb\"\",\xff\",3,"));
}

TEST_CASE("the Python layout has the fields, units and meaning of the tool that reads it") {
  // Per batch: compute 5 ms, transfer 4 ms of which the receiver sees 3, compute 2 ms, waits of 1 us before each
  // compute.
  const auto made =
      export_as("python", {make_record(make_trial(3), {5'000'000, 4'000'000, 2'000'000, 1'000'000}, 3 << 20)});
  REQUIRE(made.files.size() == 1);
  CHECK(made.files[0].path == "resnet18_split_3_metrics.json");
  const auto json = nlohmann::json::parse(made.files[0].content);
  CHECK(json.at("model_name") == "resnet18");
  CHECK(json.at("split_index") == 3);
  CHECK(json.at("static_network_delay_ms") == 0);
  CHECK(json.at("system_inference_throughput_imgs_per_s").get<double>() == Approx(8 / 5.001e-3));
  const auto& average = json.at("average_metrics_per_batch");
  CHECK(average.at("part1_inference_time_s").get<double>() == Approx(5e-3));
  CHECK(average.at("part2_inference_time_s").get<double>() == Approx(2e-3));
  CHECK(average.at("network_time_s").get<double>() == Approx(3e-3));
  CHECK(average.at("end_to_end_latency_s").get<double>() == Approx(11.002e-3));
  CHECK(average.at("intermediate_data_size_bytes").get<double>() == 3 << 20);
  CHECK(average.at("network_throughput_mbps").get<double>() == Approx(1000));  // MiB/s
}

TEST_CASE(
    "the Python layout averages over repetitions, without warm-up, and a network time of zero has a rate of zero") {
  auto slow = make_record(make_trial(3, 1), {7'000'000, 0, 2'000'000, 1'000'000}, 8000);
  slow.single_stream->stages[0].compute_end[0] += 100'000;  // warm-up
  slow.trial.model = "../../synthetic:5ms/2MB";             // and leads no file elsewhere
  auto fast = make_record(make_trial(3, 0), {5'000'000, 0, 2'000'000, 1'000'000}, 8000);
  fast.trial.model = slow.trial.model;
  const auto file = export_as("python", {fast, slow}).files.at(0);
  CHECK(file.path == ".._.._synthetic_5ms_2MB_split_3_metrics.json");
  const auto json = nlohmann::json::parse(file.content);
  CHECK(json["average_metrics_per_batch"]["part1_inference_time_s"].get<double>() == Approx(6e-3));
  CHECK(json["average_metrics_per_batch"]["network_throughput_mbps"] == 0);
  CHECK(json["system_inference_throughput_imgs_per_s"].get<double>() == Approx(8 / 6.001e-3));
}

TEST_CASE("what the Python layout cannot say is left out by name") {
  const auto made = export_as("python", testing::sweep());
  REQUIRE(made.left_out.size() == 2);
  CHECK(made.left_out[0] == "resnet18 split 6/10 has no ok repetition");
  CHECK(contains(made.left_out[1], "resnet18 split 10/10 all local has no network"));
  auto three_stages = plain_record();
  three_stages.trial.split_points = {3, 7};
  CHECK(export_as("python", {three_stages}).files.empty());
  auto cut = plain_record();
  cut.trial.micro_batch = 4;
  CHECK(contains(export_as("python", {cut}).left_out.at(0), "cut into micro-batches"));
}

TEST_CASE("several groups get a folder each, so that no file overwrites another and no frontier mixes them") {
  const auto made = export_as("python", testing::sweep());
  std::set<std::filesystem::path> paths;
  for (const auto& file : made.files) CHECK(paths.insert(file.path).second);
  CHECK(made.files.size() == 5);
  CHECK(made.files.front().path.parent_path() != made.files.back().path.parent_path());
  CHECK(contains(made.files.back().path.string(), "resnet18_batch1_"));
}

TEST_CASE("a record whose samples do not belong to it is refused") {
  auto damaged = plain_record();
  damaged.single_stream->stages.pop_back();
  CHECK(contains(support::message_of<Error>([&] { export_as("python", {damaged}); }), "two stages"));
  auto no_link = plain_record();
  no_link.links.clear();
  CHECK_THROWS_AS(export_as("python", {no_link}), UsageError);
}

TEST_CASE("trials are selected by the beginning of their id, their split and their repetition") {
  const auto records = testing::sweep();
  const auto id = records[4].trial.id();
  const auto count = [&](const Selection& selection) { return render::select_trials(records, selection).size(); };
  CHECK(count({}) == records.size());
  CHECK(count({.id_prefix = id}) == 1);
  auto upper = id.substr(0, 6);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  CHECK(render::select_trials(records, {.id_prefix = upper}).at(0).trial == records[4].trial);
  CHECK(count({.split = "3"}) == 2);
  CHECK(render::select_trials(records, {.split = "3", .repetition = 2}).at(0).trial.repetition == 1);
  CHECK(count({.split = "7"}) == 3);  // two groups
}

TEST_CASE("a selection of several cuts is written as they are") {
  auto record = testing::make_failure(testing::make_trial(3), "gone");
  record.trial.split_points = {3, 7};
  CHECK(render::select_trials(std::vector{record}, {.split = "3,7"}).size() == 1);
  CHECK_THROWS_AS(render::select_trials(std::vector{record}, {.split = "3"}), UsageError);
}

TEST_CASE("trials are selected by the name of their network") {
  const std::vector records{testing::measured(3, 0, 10, 20, "wifi"), testing::measured(3, 0, 10, 20, "wan")};
  CHECK(render::select_trials(records, {.network = "wan"}).at(0).trial == records[1].trial);
  const auto message = support::message_of<UsageError>([&] { render::select_trials(records, {.network = "lan\x1b"}); });
  CHECK(contains(message, "no trial over the network lan?; there are"));
}

TEST_CASE("a selection that nothing matches is refused with what there is") {
  const auto records = testing::sweep();
  const auto message = support::message_of<UsageError>(
      [&] { render::select_trials(records, {.id_prefix = "zz\x1b", .split = "99", .repetition = 7}); });
  CHECK(contains(message, "no trial whose id begins with zz? of split 99 of repetition 7"));
  CHECK(contains(message, records.front().trial.id()));
  CHECK(contains(message, "resnet18 split 6/10 batch 8 repetition 1, failed"));
  CHECK(render::select_trials({}, {.split = "99"}).empty());  // no records is another message
}
