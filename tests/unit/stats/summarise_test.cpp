#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/analysis/stats/summarise.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/record/metric.hpp>

#include <algorithm>
#include <cmath>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "dealt_samples.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using nlohmann::json;
using support::contains;

namespace {

const testing::Durations kAlone{5000, 4000, 3000, 2000, 50'000};
const testing::Durations kLoaded{5000, 4000, 3000, 2000, 10'000};
const auto kSingleStream = testing::regular_samples(kAlone, 10, 2, 1);
const auto kOffline = testing::regular_samples(kLoaded, 10, 2, 4);
const std::vector<record::LinkPayload> kLinks{{0, 1, 8000, 64}, {1, 0, 40, 64}};

}  // namespace

TEST_CASE("throughput is the rate between the first and the last completion after warm-up") {
  auto offline = kOffline;
  const auto rate = [&] { return stats::summarise(kSingleStream, offline, 16, kLinks).throughput_image_per_s.value(); };
  // 8 measured batches of 16 images, 10 us apart: 7 intervals.
  CHECK(rate() == Approx(16 / 10e-6));
  offline.results.completed[0] -= 5'000'000;  // a slow warm-up batch changes nothing
  CHECK(rate() == Approx(16 / 10e-6));
  offline.results.completed[9] += 70'000;  // the last interval does
  CHECK(rate() == Approx(7 * 16 / 140e-6));
}

TEST_CASE("of one phase alone the summary is what it says in that of both, and nothing else") {
  const auto both = stats::summarise(kSingleStream, kOffline, 16, kLinks);
  const auto alone = stats::summarise(kSingleStream, std::nullopt, 16, kLinks);
  const auto loaded = stats::summarise(std::nullopt, kOffline, 16, kLinks);
  CHECK(alone == record::Summary{both.latency, {}, {}, both.breakdown, both.links, {}});
  CHECK(loaded == record::Summary{{}, both.throughput_image_per_s, both.latency_under_load, {}, {}, both.stages});
}

TEST_CASE("latency is that of measured batches, from each phase's own samples") {
  auto single_stream = kSingleStream;
  auto offline = kOffline;
  single_stream.results.completed[1] += 1'000'000;  // warm-up
  offline.results.completed[5] += 500;
  const auto summary = stats::summarise(single_stream, offline, 1, kLinks);
  const double latency = 5000 + 4000 + 3000 + 2000 + 2 * testing::kWait;
  CHECK(summary.latency->count == 8);
  CHECK(summary.latency->max_ns == latency);
  CHECK(summary.latency_under_load->max_ns == latency + 500);
}

TEST_CASE("utilisation counts compute within the window of completions only") {
  const auto single_stream = testing::regular_samples(kAlone, 4, 1, 1);
  auto offline = testing::regular_samples(kLoaded, 4, 1, 4);
  offline.results.completed = {0, 100'000, 150'000, 200'000};
  offline.stages[0].compute_begin = {0, 90'000, 120'000, 195'000};
  offline.stages[0].compute_end = {50'000, 110'000, 140'000, 260'000};  // 0, 10, 20 and 5 us of it within
  const auto summary = stats::summarise(single_stream, offline, 1, kLinks);
  CHECK(summary.stages.at(0).utilisation == Approx(0.35));
  CHECK(summary.stages.at(0).bubble == Approx(0.65));
  CHECK(summary.stages.at(0).compute_p50_ns == 20'000);
}

TEST_CASE("a link's rates divide its payload by the sender-to-receiver and the receiver-side time") {
  const auto links = stats::summarise(kSingleStream, kOffline, 1, kLinks).links;
  REQUIRE(links.size() == 2);
  CHECK(links[0].transfer_p50_ns == 4000);
  CHECK(links[0].goodput_byte_per_s == Approx(8000 / 4e-6));
  CHECK(links[0].receive_rate_byte_per_s == Approx(8000 / 3e-6));  // the header takes a quarter of the transfer
  CHECK(links[1].to == 0);
  CHECK(links[1].goodput_byte_per_s == Approx(40 / 2e-6));
}

TEST_CASE(
    "of batches in micro-batches, throughput counts batches, compute is a whole batch's, and a link's rates are a "
    "micro-batch's") {
  // 10 batches of 2 micro-batches, one micro-batch every 10 us, 2 batches of which warm up.
  const auto single_stream = testing::micro_batched(testing::regular_samples(kAlone, 20, 2, 1), 2);
  const auto offline = testing::micro_batched(testing::regular_samples(kLoaded, 20, 2, 4), 2);
  const std::vector<record::LinkPayload> links{{0, 1, 16000, 128}, {1, 0, 80, 128}};
  const auto summary = stats::summarise(single_stream, offline, 16, links);
  CHECK(summary.latency->count == 8);
  CHECK(summary.latency->p50_ns == 50'000 + 5000 + 4000 + 3000 + 2000 + 2 * testing::kWait);
  CHECK(summary.throughput_image_per_s.value() == Approx(16 / 20e-6));
  CHECK(summary.stages.at(0).compute_p50_ns == 2 * 5000);
  CHECK(summary.stages.at(0).utilisation == Approx(13 * 5 / 140.0));  // nothing follows the last batch
  CHECK(summary.stages.at(1).utilisation == Approx(0.3));
  CHECK(summary.links.at(0).transfer_p50_ns == 4000);
  CHECK(summary.links.at(0).goodput_byte_per_s == Approx(8000 / 4e-6));
  CHECK(summary.links.at(1).receive_rate_byte_per_s == Approx(40 / 1.5e-6));
}

TEST_CASE("a transfer below the clock's resolution has a finite rate") {
  auto single_stream = testing::regular_samples({5000, 0, 3000, 2000, 50'000}, 10, 2, 1);
  CHECK(stats::summarise(single_stream, kOffline, 1, kLinks).links[0].goodput_byte_per_s == 8000e9);
}

TEST_CASE("the means of the breakdown add up to the mean latency") {
  std::mt19937 random(3);
  for (int stages = 1; stages <= 5; ++stages) {
    const auto samples = testing::random_samples(random, stages, 20, 5);
    const auto summary = stats::summarise(samples, samples, 1, ring_links(stages));
    double sum = 0;
    for (const auto& part : summary.breakdown) sum += part.mean_ns;
    CHECK(sum == Approx(summary.latency->mean_ns).epsilon(1e-12));
    CHECK(summary.stages.size() == static_cast<std::size_t>(stages));
  }
}

TEST_CASE("one measured batch has no throughput and is refused with what to do") {
  const auto offline = testing::regular_samples(kLoaded, 3, 2, 4);
  const auto error = support::message_of<Error>([&] { stats::summarise(kSingleStream, offline, 1, kLinks); });
  CHECK(support::contains(error, "at least 2 batches"));
}

TEST_CASE("links that do not fit the stages are refused") {
  CHECK_THROWS_AS(stats::summarise(kSingleStream, kOffline, 1, {}), UsageError);
  CHECK_THROWS_AS(stats::summarise(testing::alone(kSingleStream), testing::alone(kOffline), 1, kLinks), UsageError);
}

namespace {

record::TrialRecord a_record(int split = 3) {
  return make_record(make_trial(split), {9'000'000, 4'000'000, 3'000'000, 20'000}, 8000);
}

std::string complaint_about(const record::TrialRecord& record) {
  return support::message_of<UsageError>([&] { stats::check_summary(record); });
}

/// What is said of a record after one change to it.
struct Edit {
  void (*edit)(record::TrialRecord&);
  const char* complaint;
};

void check_complaints(record::TrialRecord (*make)(), std::initializer_list<Edit> edits) {
  for (const auto& [edit, complaint] : edits) {
    auto record = make();
    edit(record);
    INFO(complaint);
    CHECK(contains(complaint_about(record), complaint));
  }
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

TEST_CASE("a number that no sample gives is refused") {
  auto record = testing::in_phases(a_record(), experiment::Phases::single_stream);
  record.summary->throughput_image_per_s = 1000;
  CHECK(contains(complaint_about(record), "which no sample says: was it edited by hand?"));
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
  check_complaints(
      +[] { return a_record(); },
      {{[](auto& record) { record.single_stream->results.completed.back() += 1'000'000; }, "was it edited by hand?"},
       {[](auto& record) { record.offline->stages[1].compute_end.pop_back(); }, "damaged"},
       {[](auto& record) { record.single_stream->warmup = 1; },
        "\"single_stream\" has 10 batches, 1 of them to warm up"},
       {[](auto& record) { record.offline->micro_batches = 2; },
        "\"offline\" has batches of 2 micro-batches, and its trial asks for 1"},
       {[](auto& record) { record.trial.micro_batch = 4; },
        "\"single_stream\" has batches of 1 micro-batches, and its trial asks for 2"},
       {[](auto& record) { record.summary->breakdown.pop_back(); }, "missing"}});
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
  check_complaints(a_search,
                   {{[](auto& record) { record.server->max_rate->kept_image_per_s = 16; }, "max_rate"},
                    {[](auto& record) { record.server->max_rate->kept_image_per_s.reset(); }, "max_rate"},
                    {[](auto& record) { record.server->max_rate.reset(); }, "max_rate"},
                    {[](auto& record) { record.server->runs.clear(); }, "max_rate"},
                    {[](auto& record) { record.trial.server->queries = 4; }, "4 queries, and its trial asks for 5"},
                    {[](auto& record) { record.server->runs[0].moments.completed.pop_back(); }, "different lengths"},
                    {[](auto& record) { record.trial.server.reset(); }, "asks for none"}});
  auto record = a_search();
  record.trial.server = experiment::ServerLoad{15, std::nullopt, 3};
  CHECK(contains(complaint_about(record), "one run, at the rate of its trial"));
  record.server->runs.pop_back();
  record.server->max_rate.reset();
  CHECK_NOTHROW(stats::check_summary(record));
  record.trial.server->rate_image_per_s = 16;
  CHECK(contains(complaint_about(record), "one run, at the rate of its trial"));
}

TEST_CASE("of a device one gets its own batches, in order, with its share of the warm-up") {
  const auto samples = dealt_samples({.devices = 3, .batches = 8, .warmup = 2});
  const auto own = stats::of_device(samples, 1);
  CHECK(own.devices == 1);
  CHECK(own.warmup == 1);  // of batches 0 and 1, the second
  REQUIRE(own.results.completed.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(own.results.completed[i] == samples.results.completed[1 + 3 * i]);
    CHECK(own.stages[1].compute_begin[i] == samples.stages[1].compute_begin[1 + 3 * i]);
  }
  CHECK(stats::of_device(samples, 2).results.completed.size() == 2);
}

TEST_CASE("micro-batches of a batch stay together when it is dealt out") {
  const auto samples =
      micro_batched(dealt_samples({.devices = 2, .batches = 8, .warmup = 0}), 2);  // four batches of two
  const auto own = stats::of_device(samples, 1);
  CHECK(own.micro_batches == 2);
  const auto& all = samples.results.completed;
  CHECK(own.results.completed == std::vector{all[2], all[3], all[6], all[7]});
}

TEST_CASE(
    "parts add up for every batch, every device has its utilisation and its links, and the throughput is of them all") {
  const Dealt dealt{.devices = 3, .batches = 32, .warmup = 2};
  const auto samples = dealt_samples(dealt);
  const auto [parts, latencies] = stats::breakdown(samples);
  for (std::size_t batch = 0; batch < 32; ++batch) {
    std::int64_t sum = 0;
    for (const auto& part : parts) sum += part.ns[batch];
    CHECK(sum == latencies[batch]);
    CHECK(sum == samples.results.completed[batch] - samples.stages[0].ready[batch]);
  }
  const auto summary = stats::summarise(samples, samples, 8, dealt_links(dealt));
  REQUIRE(summary.stages.size() == 3);
  for (const auto& device : summary.stages) {
    CHECK(device.compute_p50_ns == dealt.compute);
    CHECK(device.utilisation == Approx(double(dealt.compute) / (3.0 * dealt.interval)).epsilon(0.1));
    CHECK(device.bubble == Approx(1 - device.utilisation));
  }
  REQUIRE(summary.links.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(summary.links[i].from == (i % 2 == 0 ? 0 : static_cast<int>(i / 2) + 1));
    CHECK(summary.links[i].to == (i % 2 == 0 ? static_cast<int>(i / 2) + 1 : 0));
    CHECK(summary.links[i].transfer_p50_ns == (i % 2 == 0 ? dealt.there : dealt.back));
  }
  CHECK(summary.latency->min_ns == dealt.compute);  // the source's own
  CHECK(summary.latency->max_ns == dealt.there + dealt.compute + dealt.back);
  const auto completed = samples.results.completed;
  const auto [first, last] = std::minmax_element(completed.begin() + 2, completed.end());
  CHECK(summary.throughput_image_per_s.value() == Approx(29 * 8e9 / static_cast<double>(*last - *first)));
}

TEST_CASE("samples that do not fit the devices are refused") {
  const Dealt dealt{.devices = 3, .batches = 8, .warmup = 2};
  const auto good = dealt_samples(dealt);
  const auto links = dealt_links(dealt);
  CHECK_NOTHROW(stats::summarise(good, good, 8, links));
  CHECK_THROWS_AS(stats::breakdown(dealt_samples({.devices = 3, .batches = 4, .warmup = 2})), UsageError);
  for (const int devices : {0, -2}) {
    auto none = good;
    none.devices = devices;
    CHECK_THROWS_AS(stats::breakdown(none), UsageError);
  }
  auto more = good;  // than the source and a device
  more.stages.push_back(more.stages.back());
  CHECK_THROWS_AS(stats::breakdown(more), UsageError);
  CHECK_THROWS_AS(stats::summarise(good, good, 8, {links.begin(), links.begin() + 2}), UsageError);
  const auto other = dealt_samples({.devices = 2, .batches = 8, .warmup = 2});
  CHECK_THROWS_AS(stats::summarise(other, good, 8, links), UsageError);
}

TEST_CASE("a record is checked against the devices of its trial, and its payloads are means over the batches") {
  auto record = dealt_record(make_dealt_trial(3), {.devices = 3, .batches = 10, .warmup = 2});
  CHECK(*record::find_metric("payload").value(record) == Approx(2 * 1536 / 3.0));
  CHECK(*record::find_metric("payload_back").value(record) == Approx(2 * 320 / 3.0));
  CHECK_FALSE(record::find_metric("compute_stage1").value(record).has_value());
  CHECK(record::find_metric("compute").value(record).has_value());
  CHECK_NOTHROW(stats::check_summary(record));
  record.trial.data_parallel = 2;
  CHECK_THROWS_AS(stats::check_summary(record), UsageError);
}
