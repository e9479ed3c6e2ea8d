#include <paretopipe/analysis/stats/server_summary.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>

#include <cmath>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "samples.hpp"

using namespace paretopipe;
using nlohmann::json;
using support::contains;
using testing::make_record;
using testing::make_trial;

namespace {

record::TrialRecord a_record(int split = 3) {
  return make_record(make_trial(split), {9'000'000, 4'000'000, 3'000'000, 20'000}, 8000);
}

std::string complaint_about(const record::TrialRecord& record) {
  return support::message_of<UsageError>([&] { stats::check_summary(record); });
}

/// With two Server phases of four queries: one keeps the bound.
record::TrialRecord a_search() {
  auto record = a_record();
  record.trial.warmup = 1;
  record.trial.server = experiment::ServerLoad{0, experiment::parse_latency_bound("max < 20ns"), 3};
  record.server.emplace();
  for (const std::int64_t last : {15, 35}) {
    record::ServerRun run;
    run.rate_image_per_s = static_cast<double>(last);
    run.warmup = 1;
    run.moments = {{0, 10, 20, 600}, {0, 10, 20, 600}, {9, 20, 31, 600 + last}};
    run.summary = stats::summarise_server(run.moments, 1, record.trial.batch);
    record.server->runs.push_back(run);
  }
  record.server->max_rate = record::MaxRate{15, 35};
  return record;
}

}  // namespace

TEST_CASE("a summary that follows from its samples passes, at the endpoints too, before and after a file") {
  for (const int split : {0, 3, 10}) {
    CAPTURE(split);
    CHECK_NOTHROW(stats::check_summary(a_record(split)));
    CHECK_NOTHROW(stats::check_summary(json::parse(json(a_record(split)).dump()).get<record::TrialRecord>()));
  }
  CHECK_NOTHROW(stats::check_summary(testing::make_failure(make_trial(3), "nothing was measured")));
}

TEST_CASE("the numbers of a trial of one phase are held against that phase's samples") {
  const auto phases = GENERATE(experiment::Phases::single_stream, experiment::Phases::offline);
  auto record = testing::in_phases(a_record(), phases);
  CHECK_NOTHROW(stats::check_summary(json::parse(json(record).dump()).get<record::TrialRecord>()));
  if (phases == experiment::Phases::offline) {
    *record.summary->throughput_image_per_s *= 2;
  } else {
    record.summary->latency->p50_ns *= 2;
  }
  CHECK(contains(complaint_about(record), "was it edited by hand?"));
}

TEST_CASE("whichever number of a summary was edited by hand, it is refused by its name") {
  const auto flat = json(*a_record().summary).flatten();
  for (const auto& [place, value] : flat.items()) {
    if (!value.is_number()) continue;
    auto edited = flat;
    edited[place] = value.get<double>() + 1;
    auto record = a_record();
    record.summary = edited.unflatten().get<record::Summary>();
    CAPTURE(place);
    CHECK(contains(complaint_about(record), "\"summary" + place + "\" is "));
  }
}

TEST_CASE("the last digit of another compiler's arithmetic is no damage") {
  auto record = a_record();
  auto& throughput = record.summary->throughput_image_per_s.value();
  throughput = std::nextafter(throughput, 0.0);
  CHECK_NOTHROW(stats::check_summary(record));
  throughput *= 1 + 1e-8;
  CHECK(contains(complaint_about(record), "throughput_image_per_s"));
}

TEST_CASE("samples that were edited by hand are refused") {
  auto record = a_record();
  record.single_stream->results.completed.back() += 1'000'000;
  CHECK(contains(complaint_about(record), "was it edited by hand?"));
  record = a_record();
  record.offline->stages[1].compute_end.pop_back();
  CHECK(contains(complaint_about(record), "damaged"));
  record = a_record();
  record.single_stream->warmup = 1;
  CHECK(contains(complaint_about(record), "\"single_stream\" has 10 batches, 1 of them to warm up"));
  record = a_record();
  record.offline->micro_batches = 2;
  CHECK(contains(complaint_about(record), "\"offline\" has batches of 2 micro-batches, and its trial asks for 1"));
  record = a_record();
  record.trial.micro_batch = 4;
  CHECK(
      contains(complaint_about(record), "\"single_stream\" has batches of 1 micro-batches, and its trial asks for 2"));
  record = a_record();
  record.summary->breakdown.pop_back();
  CHECK(contains(complaint_about(record), "missing"));
}

TEST_CASE("what Server phases say must follow from their samples, too") {
  REQUIRE_NOTHROW(stats::check_summary(a_search()));
  const auto flat = json(a_search().server->runs[1].summary).flatten();
  for (const auto& [place, value] : flat.items()) {
    auto edited = flat;
    edited[place] = value.is_boolean() ? json(!value.get<bool>()) : json(value.get<double>() + 1);
    auto record = a_search();
    record.server->runs[1].summary = edited.unflatten().get<record::ServerSummary>();
    CAPTURE(place);
    CHECK(contains(complaint_about(record), "\"server/runs/summary" + place + "\" is "));
  }
}

TEST_CASE("Server phases that are not those of the trial are refused") {
  auto record = a_search();
  record.server->max_rate->kept_image_per_s = 16;
  CHECK(contains(complaint_about(record), "max_rate"));
  record = a_search();
  record.server->max_rate->kept_image_per_s.reset();
  CHECK(contains(complaint_about(record), "max_rate"));
  record = a_search();
  record.server->max_rate.reset();
  CHECK(contains(complaint_about(record), "max_rate"));
  record = a_search();
  record.server->runs.clear();
  CHECK(contains(complaint_about(record), "max_rate"));
  record = a_search();
  record.trial.server->queries = 4;
  CHECK(contains(complaint_about(record), "4 queries, and its trial asks for 5"));
  record = a_search();
  record.server->runs[0].moments.completed.pop_back();
  CHECK(contains(complaint_about(record), "different lengths"));
  record = a_search();
  record.trial.server.reset();
  CHECK(contains(complaint_about(record), "asks for none"));
  record = a_search();
  record.trial.server = experiment::ServerLoad{15, std::nullopt, 3};
  CHECK(contains(complaint_about(record), "one run, at the rate of its trial"));
  record.server->runs.pop_back();
  record.server->max_rate.reset();
  CHECK_NOTHROW(stats::check_summary(record));
  record.trial.server->rate_image_per_s = 16;
  CHECK(contains(complaint_about(record), "one run, at the rate of its trial"));
}
