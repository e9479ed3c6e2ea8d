#include <paretopipe/core/error.hpp>
#include <paretopipe/record/metric.hpp>

#include <set>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "samples.hpp"

using namespace paretopipe;
using testing::make_record;
using testing::make_trial;

namespace {

std::optional<double> value_of(const record::TrialRecord& record, std::string_view name) {
  return record::find_metric(name).value(record);
}

record::TrialRecord split_record() {
  auto record = make_record(make_trial(3), {5000, 4000, 3000, 2000}, 8000);
  for (auto& stage : record.stages) stage.memory = host::StageMemory{1, 2, 3};
  return record;
}

}  // namespace

TEST_CASE("metric names are unique and every metric says what it means") {
  std::set<std::string_view> names;
  for (const auto& metric : record::metrics()) {
    CHECK(names.insert(metric.name).second);
    CHECK_FALSE(metric.meaning.empty());
    CHECK(&record::find_metric(metric.name) == &metric);
  }
}

TEST_CASE("a trial of one phase has the metrics of that phase, and those that need none") {
  const auto phases = GENERATE(experiment::Phases::single_stream, experiment::Phases::offline);
  const auto whole = split_record();
  const auto record = testing::in_phases(whole, phases);
  for (const auto& metric : record::metrics()) {
    CAPTURE(metric.name, to_string(phases));
    const bool training = metric.measured_in == record::MeasuredIn::training;
    CHECK(metric.measured_by(experiment::Phases::both) != training);
    const auto expected = metric.measured_by(phases) ? metric.value(whole) : std::nullopt;
    CHECK(metric.value(record) == expected);
  }
}

TEST_CASE("a trial that trains has its own metrics, and those of what it holds and sends") {
  auto record = split_record();
  record.trial.phases = experiment::Phases::training;
  record.trial.training.emplace();
  record.fidelity.reset();
  record.summary = record::Summary{};
  record.summary->training = {{4, 1, 2, 3, 4, 5, 6, 7}, 0, 8, {}, 0.25, 0.125, 9, 0.5, 0.75};
  record.links = {{0, 1, 1000, 64, {}}, {1, 0, 500, 64, {}}, {1, 2, 100, 64, {}}, {2, 1, 10, 64, {}}};
  const std::vector<std::pair<const char*, double>> expected{
      {"step_time", 3},           {"step_time_mean", 2}, {"training_throughput", 8},  {"bubble", 0.25},
      {"bubble_expected", 0.125}, {"loss", 0.5},         {"loss_uncompressed", 0.75}, {"payload", 1100},
      {"payload_back", 510}};
  for (const auto& [name, value] : expected) {
    INFO(name);
    CHECK(record::find_metric(name).measured_by(experiment::Phases::training));
    CHECK(value_of(record, name) == value);
  }
  CHECK_FALSE(record::find_metric("latency_p50").value(record));
  CHECK_FALSE(record::find_metric("throughput").measured_by(experiment::Phases::training));
  CHECK(record::usual_objectives(experiment::Phases::training)[0]->name == "step_time");
}

TEST_CASE("an unknown metric is refused with the likely one and the list of all") {
  const auto message = support::message_of<UsageError>([] { record::find_metric("latency_p5"); });
  CHECK(support::contains(message, "did you mean"));
  CHECK(support::contains(message, "throughput, throughput_sequential, loaded_latency_min"));
  CHECK_THROWS_AS(record::find_metric(""), UsageError);
}

TEST_CASE(
    "a split record has every metric but those of Server phases and of labels, which only a trial with them has") {
  auto loaded = split_record();
  loaded.server.emplace();
  loaded.server->runs.resize(1);
  loaded.server->runs[0].summary.latency = {9, 1, 2, 3, 4, 5, 6, 7};
  loaded.server->runs[0].summary.achieved_image_per_s = 8;
  loaded.fidelity->accuracy = {0.5, 4};
  for (const auto& metric : record::metrics()) {
    INFO(metric.name);
    if (metric.measured_in == record::MeasuredIn::training) continue;
    const bool asked_for =
        metric.name.starts_with("server_") || metric.name == "max_rate" || metric.name == "top1_accuracy";
    CHECK(metric.value(split_record()).has_value() == !asked_for);
    CHECK(metric.value(loaded).has_value() == (metric.name != "max_rate"));
  }
  CHECK(value_of(loaded, "server_latency_min") == 1);
  CHECK(value_of(loaded, "server_latency_p99") == 6);
  CHECK(value_of(loaded, "server_latency_max") == 7);
  CHECK(value_of(loaded, "server_rate") == 8);
  CHECK(value_of(loaded, "top1_accuracy") == 0.5);
}

TEST_CASE("a search has its rate, if it found one, and no latency, for it ran at many rates") {
  auto search = split_record();
  search.server.emplace();
  search.server->runs.resize(2);
  search.server->max_rate = record::MaxRate{42, 44};
  CHECK(value_of(search, "max_rate") == 42);
  CHECK_FALSE(value_of(search, "server_latency_p50"));
  CHECK_FALSE(value_of(search, "server_rate"));
  search.server->max_rate->kept_image_per_s.reset();
  CHECK_FALSE(value_of(search, "max_rate"));
}

TEST_CASE("the throughput with one batch in flight is a batch every mean latency, and unknown without one") {
  auto record = split_record();
  record.summary->latency->mean_ns = 4e9;
  CHECK(value_of(record, "throughput_sequential") == record.trial.batch / 4.0);
  record.summary->latency->mean_ns = 0;
  CHECK_FALSE(value_of(record, "throughput_sequential").has_value());
}

TEST_CASE("compute, transfer, queue and codec add up to the mean latency") {
  const auto record = split_record();
  const double parts = *value_of(record, "compute") + *value_of(record, "transfer") + *value_of(record, "queue") +
                       *value_of(record, "codec");
  CHECK(parts == Approx(*value_of(record, "latency_mean")));
  CHECK(value_of(record, "compute") == 8000);
  CHECK(value_of(record, "transfer") == 6000);
  CHECK(value_of(record, "queue") == 2 * testing::kWait);
}

TEST_CASE("payload is what crosses the cut, traffic is everything on the links") {
  const auto record = split_record();
  CHECK(value_of(record, "payload") == 8000);
  CHECK(value_of(record, "payload_back") == 320);
  CHECK(value_of(record, "traffic") == 8000 + 320 + 2 * 64);
}

TEST_CASE("what stays within a device crosses no link") {
  auto record = split_record();
  record.trial.split_points = {2, 3};
  record.links = {{0, 1, 500, 64}, {1, 2, 8000, 64}, {2, 0, 320, 64}};
  record.summary->links = {{0, 1, 1, 2, 3}, {1, 2, 4, 5, 6}, {2, 0, 7, 8, 9}};
  CHECK(value_of(record, "payload") == 8500);
  CHECK(value_of(record, "goodput") == 2);
  record.trial.placement = {0, 0, 1};
  CHECK(value_of(record, "payload") == 8000);
  CHECK(value_of(record, "payload_back") == 320);
  CHECK(value_of(record, "goodput") == 5);
  CHECK(value_of(record, "receive_rate") == 6);
  record.trial.placement = {0, 1, 0};
  CHECK(value_of(record, "payload") == 8500);
  CHECK(value_of(record, "payload_back") == 0);
  CHECK(value_of(record, "traffic") == 8500 + 2 * 64);
}

TEST_CASE("where all is local no byte crosses, and what needs a link is absent rather than zero") {
  const auto record = make_record(make_trial(10), {5000, 0, 0, 0}, 0);
  CHECK(value_of(record, "payload") == 0);
  CHECK(value_of(record, "traffic") == 0);
  for (const auto* name : {"transfer", "goodput", "receive_rate", "compute_stage1", "parameters_stage1"}) {
    INFO(name);
    CHECK_FALSE(value_of(record, name).has_value());
  }
  CHECK(value_of(record, "compute_stage0") == 5000);
}

TEST_CASE("a failed record has no metric, whatever it holds") {
  auto record = split_record();
  record.status = record::Status::failed;
  for (const auto& metric : record::metrics()) CHECK_FALSE(metric.value(record).has_value());
}

TEST_CASE("the largest peak of memory is unknown where one stage's is") {
  auto record = split_record();
  record.stages[1].peak_rss_bytes = 70'000'000;
  CHECK(value_of(record, "peak_rss") == 70'000'000);
  record.stages[0].peak_rss_bytes.reset();
  CHECK_FALSE(value_of(record, "peak_rss").has_value());
}

TEST_CASE("what a trial needs in memory is the neediest stage's weights, prepared graph and tensors together") {
  auto record = split_record();
  record.stages[1].memory.reset();
  record.stages[0].memory = host::StageMemory{1000, 200, 30};
  CHECK_FALSE(value_of(record, "peak_memory").has_value());
  record.stages[1].memory = host::StageMemory{1000, 0, 231};
  CHECK(value_of(record, "peak_memory") == 1231);
}

TEST_CASE("the bottleneck is the busiest stage and the bubble the mean over stages") {
  auto record = split_record();
  record.summary->stages = {{1000, 0.9, 0.1}, {1000, 0.4, 0.6}};
  CHECK(value_of(record, "bottleneck_utilisation") == 0.9);
  CHECK(*value_of(record, "bubble") == Approx(0.35));
}
