#include <paretopipe/core/error.hpp>

#include <set>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "export_as.hpp"
#include "sweep.hpp"

using namespace paretopipe;
using support::contains;
using testing::export_as;
using testing::make_record;
using testing::make_trial;

TEST_CASE("the Python layout has the fields, units and meaning of the tool that reads it") {
  // Per batch: compute 5 ms, transfer 4 ms of which the receiver sees 3, compute 2 ms, waits of 1 us before each
  // compute.
  const std::vector<record::TrialRecord> records{
      make_record(make_trial(3), {5'000'000, 4'000'000, 2'000'000, 1'000'000}, 3 << 20)};
  const auto made = export_as("python", records);
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

TEST_CASE("the Python layout averages over repetitions, without warm-up") {
  auto slow = make_record(make_trial(3, 1), {7'000'000, 4'000'000, 2'000'000, 1'000'000}, 8000);
  slow.single_stream->stages[0].compute_end[0] += 100'000;  // warm-up
  const std::vector<record::TrialRecord> records{
      make_record(make_trial(3, 0), {5'000'000, 4'000'000, 2'000'000, 1'000'000}, 8000), slow};
  const auto json = nlohmann::json::parse(export_as("python", records).files.at(0).content);
  CHECK(json["average_metrics_per_batch"]["part1_inference_time_s"].get<double>() == Approx(6e-3));
  CHECK(json["system_inference_throughput_imgs_per_s"].get<double>() == Approx(8 / 6.001e-3));
}

TEST_CASE("a network time of zero has a rate of zero, as the tool defines it") {
  const std::vector<record::TrialRecord> records{
      make_record(make_trial(3), {5'000'000, 0, 2'000'000, 1'000'000}, 8000)};
  const auto json = nlohmann::json::parse(export_as("python", records).files.at(0).content);
  CHECK(json["average_metrics_per_batch"]["network_throughput_mbps"] == 0);
}

TEST_CASE("what the Python layout cannot say is left out by name") {
  const auto made = export_as("python", testing::sweep());
  REQUIRE(made.left_out.size() == 2);
  CHECK(made.left_out[0] == "resnet18 split 6/10 has no ok repetition");
  CHECK(contains(made.left_out[1], "resnet18 split 10/10 all local has no network"));
  auto three_stages = make_record(make_trial(3), {5000, 4000, 3000, 2000}, 8000);
  three_stages.trial.split_points = {3, 7};
  CHECK(export_as("python", {three_stages}).files.empty());
  auto cut = make_record(make_trial(3), {5000, 4000, 3000, 2000}, 8000);
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

TEST_CASE("a model's name cannot lead a file elsewhere") {
  auto trial = make_trial(3);
  trial.model = "../../synthetic:5ms/2MB";
  const std::vector<record::TrialRecord> records{make_record(trial, {5000, 4000, 3000, 2000}, 8000)};
  const auto made = export_as("python", records);
  CHECK(made.files.at(0).path == ".._.._synthetic_5ms_2MB_split_3_metrics.json");
}

TEST_CASE("a record whose samples do not belong to it is refused") {
  auto damaged = make_record(make_trial(3), {5000, 4000, 3000, 2000}, 8000);
  damaged.single_stream->stages.pop_back();
  CHECK(contains(support::message_of<Error>([&] { export_as("python", {damaged}); }), "two stages"));
  auto no_link = make_record(make_trial(3), {5000, 4000, 3000, 2000}, 8000);
  no_link.links.clear();
  CHECK_THROWS_AS(export_as("python", {no_link}), UsageError);
}
