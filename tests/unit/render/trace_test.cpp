// What viewers need of a trace, and what a person may conclude from one: the spans are the batches' latencies and the
// stages' bubbles, to the nanosecond.
#include <paretopipe/analysis/stats/breakdown.hpp>
#include <paretopipe/core/error.hpp>
#include <paretopipe/render/exports.hpp>
#include <paretopipe/render/trace_spans.hpp>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/message_of.hpp>
#include <support/trace_events.hpp>

#include "sweep.hpp"

using namespace paretopipe;
using support::contains;
using support::joined_events;
using support::nanoseconds;
using testing::make_record;
using testing::make_trial;

namespace {

constexpr auto kMade = testing::Durations{5'000'000, 4'000'001, 2'000'003, 1'000'000};

nlohmann::json trace_of(const record::TrialRecord& record) {
  const auto made = render::find_export_layout("trace").make(std::vector{record});
  REQUIRE(made.files.size() == 1);
  return nlohmann::json::parse(made.files.front().content);
}

bool is(const nlohmann::json& event, const std::string& kind) {
  return event.value("cat", "").starts_with(kind + ",");
}

/// A record of samples with random gaps, several batches on their way at once, and its summary. Batches are of 8 images
/// in so many micro-batches.
record::TrialRecord random_record(unsigned seed, int stages, int micro_batches = 1) {
  std::mt19937 random(seed);
  auto trial = make_trial(stages == 1 ? 10 : 3);
  if (stages == 3) trial.split_points = {3, 7};
  if (micro_batches > 1) trial.micro_batch = trial.batch / micro_batches;
  record::TrialRecord record;
  record.trial = trial;
  record.stages.resize(static_cast<std::size_t>(stages));
  record.single_stream =
      testing::micro_batched(testing::random_samples(random, stages, 7 * micro_batches, 2), micro_batches);
  record.offline = testing::micro_batched(testing::random_samples(random, stages, 9 * micro_batches, 2), micro_batches);
  record.links = testing::ring_links(stages);
  return testing::summarised(std::move(record));
}

/// The offline phase at depth, so that batches wait side by side and travel behind one another.
record::TrialRecord crowded_record() {
  auto record = make_record(make_trial(3), kMade, 8000);
  auto& stage = record.offline->stages[0];
  for (auto* handed_over : {&stage.receive_begin, &stage.receive_end, &stage.ready}) {
    for (auto& moment : *handed_over) moment = std::max<std::int64_t>(0, moment - 12'000'000);
  }
  for (auto& moment : record.offline->stages[1].receive_end) moment += 9'000'000;
  const auto later = [](std::vector<std::int64_t>& moments) {
    for (auto& moment : moments) moment += 9'000'000;
  };
  for (std::size_t i = 2; i < kStageMoments.size(); ++i) later(record.offline->stages[1].*kStageMoments[i]);
  for (const auto moments : kResultMoments) later(record.offline->results.*moments);
  return record;
}

using Batch = std::pair<std::string, int>;  ///< phase, sequence number

/// Of batches that are cut, over their last micro-batches' spans.
std::map<Batch, std::int64_t> sums(const nlohmann::json& trace, const std::string& kind, int micro_batches = 1) {
  std::map<Batch, std::int64_t> result;
  for (const auto& event : joined_events(trace)) {
    if (!is(event, kind) || event["args"].value("chunk", micro_batches - 1) != micro_batches - 1) continue;
    result[{event["args"]["phase"], event["args"]["batch"]}] += nanoseconds(event["dur"]);
  }
  return result;
}

}  // namespace

TEST_CASE("a trace is in the trace-event format: events by time, rows whose spans never overlap, named") {
  const auto record =
      GENERATE(make_record(make_trial(3), kMade, 8000), make_record(make_trial(10), kMade, 0),
               make_record(make_trial(0), kMade, 8000), crowded_record(), random_record(1, 3), random_record(2, 3, 4));
  const auto trace = trace_of(record);
  CHECK(trace.at("displayTimeUnit") == "ms");
  std::set<int> processes;
  std::set<std::pair<int, int>> named;
  std::map<std::pair<int, int>, std::int64_t> reached;
  double before = 0;
  int spans = 0;
  for (const auto& event : joined_events(trace)) {
    const int process = event.at("pid");
    if (event.at("ph") == "M") {
      if (event.at("name") == "process_name") CHECK(processes.insert(process).second);
      if (event.at("name") == "thread_name") CHECK(named.insert({process, event.at("tid")}).second);
      continue;
    }
    REQUIRE(event.at("ph") == "B");
    ++spans;
    CHECK(event.at("ts").get<double>() >= before);
    before = event.at("ts");
    CHECK(event.at("dur").get<double>() > 0);
    CHECK(processes.contains(process));
    const std::pair row{process, event.at("tid").get<int>()};
    CHECK(named.contains(row));
    const auto begin = nanoseconds(event.at("ts"));
    CHECK(begin >= reached[row]);
    reached[row] = begin + nanoseconds(event.at("dur"));
  }
  CHECK(spans > 0);
  // One stage, or two or three, and the row of the batches.
  CHECK(processes.size() == static_cast<std::size_t>(stats::stage_count(*record.offline)) + 1);
  std::set<int> rows;
  for (const auto& [process, row] : named) CHECK(rows.insert(row).second);
}

TEST_CASE("the parts of every batch of a trace add up to its latency, in both phases") {
  const int stages = GENERATE(1, 2, 3);
  const int micro_batches = GENERATE(1, 2, 8);
  const auto record = random_record(GENERATE(range(1U, 6U)), stages, micro_batches);
  const auto trace = trace_of(record);
  const auto latencies = sums(trace, "batch", micro_batches);
  CHECK(latencies.size() == 7 + 9);
  CHECK(sums(trace, "part", micro_batches) == latencies);
  for (const auto& [phase, samples] :
       {std::pair("single_stream", &*record.single_stream), std::pair("offline", &*record.offline)}) {
    const auto expected = stats::breakdown(*samples).latency_ns;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(latencies.at({phase, static_cast<int>(i)}) == expected[i]);
    }
  }
}

TEST_CASE("the bubbles of a trace are the summary's") {
  const auto record = GENERATE(make_record(make_trial(3), kMade, 8000), make_record(make_trial(0), kMade, 8000),
                               random_record(3, 1), random_record(4, 2), random_record(5, 3), random_record(6, 2, 4));
  const auto trace = trace_of(record);
  const auto window = stats::completion_window(*record.offline);
  std::map<int, std::int64_t> idle;
  std::int64_t drawn_window = 0;
  for (const auto& event : joined_events(trace)) {
    if (is(event, "bubble")) idle[event["pid"].get<int>() - 1] += nanoseconds(event["dur"]);
    if (event["name"] == "throughput window") drawn_window = nanoseconds(event.value("dur", nlohmann::json(0)));
    if (is(event, "bubble")) CHECK(event["args"]["phase"] == "offline");
  }
  CHECK(drawn_window == window.last - window.first);
  for (std::size_t stage = 0; stage < record.summary->stages.size(); ++stage) {
    const auto share = static_cast<double>(idle[static_cast<int>(stage)]) / static_cast<double>(drawn_window);
    CHECK(share == Approx(record.summary->stages[stage].bubble).margin(1e-12));
  }
}

TEST_CASE("a trace says of every span to which phase it belongs, and marks warm-up") {
  const auto trace = trace_of(make_record(make_trial(3), kMade, 8000));
  std::map<std::string, std::set<int>> warmup;
  std::int64_t single_stream_end = 0;
  std::int64_t offline_begin = INT64_MAX;
  for (const auto& event : joined_events(trace)) {
    if (event["ph"] == "M") continue;
    const std::string phase = event["args"]["phase"];
    const auto begin = nanoseconds(event["ts"]);
    if (phase == "offline") offline_begin = std::min(offline_begin, begin);
    if (phase == "single_stream") single_stream_end = std::max(single_stream_end, begin + nanoseconds(event["dur"]));
    if (!event["args"].contains("batch")) continue;
    CHECK(contains(event["cat"].get<std::string>(), ",warmup") == event["args"]["warmup"].get<bool>());
    if (event["args"]["warmup"]) warmup[phase].insert(event["args"]["batch"].get<int>());
  }
  CHECK(warmup == std::map<std::string, std::set<int>>{{"single_stream", {0, 1}}, {"offline", {0, 1}}});
  CHECK(offline_begin == single_stream_end + render::kPhaseGapNs);
}

TEST_CASE(
    "a trace of batches in micro-batches has every micro-batch's spans, with its number and its share of the payload") {
  const auto trace = trace_of(random_record(7, 2, 4));
  std::map<std::pair<std::string, int>, std::set<int>> computed;
  for (const auto& event : joined_events(trace)) {
    if (event["name"] == "latency") CHECK_FALSE(event["args"].contains("chunk"));
    if (event["name"] == "transfer") CHECK(event["args"]["payload_bytes"] == 100 / 4);
    if (event["name"] == "queue")
      computed[{event["args"]["phase"], event["args"]["batch"]}].insert(event["args"]["chunk"].get<int>());
  }
  CHECK(computed.size() == 7 + 9);
  for (const auto& [batch, micro_batches] : computed) CHECK(micro_batches == std::set<int>{0, 1, 2, 3});
}

TEST_CASE("a trace shows what happened where: links at their senders, and the link's payload") {
  const auto trace = trace_of(make_record(make_trial(3), kMade, 8000));
  std::map<std::tuple<int, int>, std::string> rows;
  std::set<std::tuple<std::string, std::string, int>> seen;
  for (const auto& event : joined_events(trace)) {
    const std::tuple row{event["pid"].get<int>(), event.value("tid", 0)};
    if (event["name"] == "thread_name") rows[row] = event["args"]["name"];
    if (event["ph"] == "B") seen.insert({event["name"], rows.at(row), event["pid"]});
    if (event["name"] == "transfer") CHECK(event["args"]["payload_bytes"] == (event["pid"] == 1 ? 8000 : 320));
  }
  for (const auto& expected : {std::tuple("compute", "compute", 1),
                               {"compute", "compute", 2},
                               {"queue", "queue", 1},
                               {"transfer", "link to stage 1", 1},
                               {"transfer", "link back to stage 0", 2},
                               {"receive", "receive", 2},
                               {"receive", "receive", 1},
                               {"bubble", "bubble", 2},
                               {"latency", "batches", 3}}) {
    INFO(std::get<0>(expected) << " on " << std::get<1>(expected));
    CHECK(seen.contains({std::get<0>(expected), std::get<1>(expected), std::get<2>(expected)}));
  }
}

TEST_CASE("spans that overlap get as many rows as they need, and no more") {
  const auto span = [](std::int64_t begin, std::int64_t end) {
    return render::Span{.name = "queue", .track = "queue", .begin_ns = begin, .end_ns = end};
  };
  const std::vector<render::Span> spans{span(0, 10), span(0, 5), span(5, 9), span(9, 12), span(10, 11), span(11, 12)};
  const auto tracks = render::lay_out_tracks(spans, 1);
  REQUIRE(tracks.size() == 2);
  CHECK(tracks[0].name == "queue");
  CHECK(tracks[1].name == "queue (2)");
  CHECK(tracks[0].spans.size() == 3);
  CHECK(render::lay_out_tracks({}, 2).empty());
}

TEST_CASE("time that runs backwards is refused, not drawn") {
  using Damage = void (*)(record::TrialRecord&);
  using Words = std::vector<std::string>;
  for (const auto& [damage, words] : std::vector<std::pair<Damage, Words>>{
           {[](auto& record) {
              record.offline->stages[1].receive_end[4] = record.offline->stages[0].send_begin[4] - 7;
            },
            Words{"resnet18 split 3/10", "offline phase", "transfer of batch 4"}},
           {[](auto& record) { record.single_stream->stages[0].receive_begin[0] = -5; }, Words{"from -5 ns"}},
           {[](auto& record) { record.single_stream->results.completed[3] = std::int64_t{1} << 62; }, Words{}},
           {[](auto& record) { record.offline = testing::alone(*record.offline); },
            Words{"different numbers of stages"}},
           {[](auto& record) { record.offline->stages[1].encoded.pop_back(); }, Words{"damaged"}}}) {
    auto record = make_record(make_trial(3), kMade, 8000);
    damage(record);
    const auto message = support::message_of<UsageError>([&] { trace_of(record); });
    CHECK(message != "(nothing was thrown)");
    for (const auto& word : words) CHECK(contains(message, word));
  }
}

TEST_CASE("a trial without samples has no trace, and the reason is said") {
  const auto made =
      render::find_export_layout("trace").make(std::vector{testing::make_failure(make_trial(3), "gone\x1b[2J")});
  CHECK(made.files.empty());
  REQUIRE(made.left_out.size() == 1);
  CHECK(contains(made.left_out[0], "run, stage 1: gone?[2J"));
  CHECK(render::find_export_layout("trace").make({}).files.empty());
}

TEST_CASE("a trace of several trials is refused with the candidates, twenty at most") {
  std::vector<record::TrialRecord> records;
  for (int repetition = 0; repetition < 25; ++repetition) {
    records.push_back(make_record(make_trial(3, repetition), kMade, 8000));
  }
  const auto message =
      support::message_of<UsageError>([&] { render::find_export_layout("trace").make(std::span(records).first(2)); });
  CHECK(contains(message, "--trial"));
  for (int i = 0; i < 2; ++i) CHECK(contains(message, records[static_cast<std::size_t>(i)].trial.id()));
  CHECK(contains(message, "repetition 2, ok"));
  CHECK(contains(support::message_of<UsageError>([&] { render::find_export_layout("trace").make(records); }),
                 "and 5 more"));
}

TEST_CASE("no string of a record can break a trace or lead its file elsewhere") {
  auto record = make_record(make_trial(3), kMade, 8000);
  record.trial.model = "../\"},{\"ph\":\"X\n\x01\xff</script>" + std::string(300, 'x');
  record.provenance.started_at = "\"\\";
  const auto made = render::find_export_layout("trace").make(std::vector{record});
  const auto name = made.files.at(0).path.string();
  CHECK(name.find('/') == std::string::npos);
  CHECK(name.size() < 200);
  CHECK(nlohmann::json::parse(made.files[0].content)["otherData"]["started_at"] == "\"\\");
}
