#include <paretopipe/core/error.hpp>
#include <paretopipe/record/record.hpp>

#include <functional>
#include <set>
#include <sstream>

#include <support/catch.hpp>
#include <support/files.hpp>
#include <support/message_of.hpp>

#include "records.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using nlohmann::json;
using record::TrialRecord;
using support::contains;

namespace {

TrialRecord there_and_back(const TrialRecord& record) {
  return json::parse(json(record).dump()).get<TrialRecord>();
}

std::string complaint_about(const json& value) {
  return support::message_of<UsageError>([&] { value.get<TrialRecord>(); });
}

/// Calls `visit` with the pointer to every value inside of a record, however deep, but for what a stage says in its own
/// words.
void for_each_value(const json& value, const json::json_pointer& here,
                    const std::function<void(const json::json_pointer&)>& visit) {
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items()) {
    if (key == "compute" && inner.is_object()) continue;
    const auto there = value.is_array() ? here / std::stoul(key) : here / key;
    visit(there);
    for_each_value(inner, there, visit);
  }
}

/// A value that belongs nowhere in the place of this one.
json mistyped(const json& value) {
  if (value.is_string()) return 7;
  return value.is_object() ? json("an object") : json::object();
}

}  // namespace

TEST_CASE("a record comes back from JSON as it was, whatever it had measured before it failed") {
  CHECK(there_and_back(ok_record()) == ok_record());
  CHECK(there_and_back(failed_record()) == failed_record());
  auto record = failed_record();
  record.failure->stage = 1;
  CHECK(there_and_back(record) == record);
  record = ok_record();
  record.status = record::Status::failed;
  record.summary.reset();
  record.failure = record::Failure{"check", 0, "a reason with \"quotes\", a \n line break and an ü"};
  CHECK(there_and_back(record) == record);
}

TEST_CASE(
    "a record of batches in micro-batches comes back as it was, and one that does not speak of micro-batches has whole "
    "batches") {
  auto record = ok_record();
  CHECK_FALSE(json(record)["trial"].contains("micro_batch"));
  CHECK_FALSE(json(record)["offline"].contains("chunks"));
  CHECK(there_and_back(record).offline->micro_batches == 1);
  record.trial.micro_batch = 2;
  record.single_stream->micro_batches = record.offline->micro_batches = 4;
  CHECK(there_and_back(record) == record);
  CHECK(json(record)["id"] != json(ok_record())["id"]);
  for (const auto& damage : {json("4"), json(4.5), json(nullptr), json(3'000'000'000)}) {
    auto damaged = json(record);
    damaged["offline"]["chunks"] = damage;
    CAPTURE(damage);
    CHECK_THROWS_AS(damaged.get<TrialRecord>(), UsageError);
  }
}

TEST_CASE("a record without a codec does not say when a codec began, and where that is missing none did") {
  auto record = ok_record();
  CHECK_FALSE(json(record)["offline"]["stages"][0].contains("codec_begin"));
  auto& stage = record.offline->stages[0];
  stage.codec_begin = stage.encoded;
  CHECK(json(record)["offline"]["stages"][0]["codec_begin"] == stage.encoded);
  CHECK(there_and_back(record) == record);
}

TEST_CASE("a record with Server phases comes back as it was, and has them exactly where its trial does") {
  auto record = ok_record();
  CHECK_FALSE(json(record).contains("server"));
  record.trial.server = experiment::ServerLoad{0, experiment::parse_latency_bound("p99 < 1ms"), 2};
  CHECK_THROWS_AS(json(record).get<TrialRecord>(), UsageError);
  record.server.emplace();
  record.server->runs = {{12.5, 1, {{0, 1}, {2, 3}, {4, 5}}, {{1, 2, 3, 4, 5, 6, 7, 8}, 9, 10, true, 11}}};
  record.server->max_rate = record::MaxRate{3.5, std::nullopt};
  CHECK(there_and_back(record) == record);
  CHECK_FALSE(json(record)["server"]["max_rate"].contains("missed_image_per_s"));
  auto without_load = record;
  without_load.trial.server.reset();
  CHECK_THROWS_AS(json(without_load).get<TrialRecord>(), UsageError);
  for (const auto& damage : {json(7), json(nullptr), json::object(), json{{"runs", {1}}}, json{{"runs", "x"}}}) {
    auto damaged = json(record);
    damaged["server"] = damage;
    CAPTURE(damage);
    CHECK_THROWS_AS(damaged.get<TrialRecord>(), UsageError);
  }
}

TEST_CASE("a record has the phases of its trial, and no number of another one") {
  const auto phases = GENERATE(experiment::Phases::single_stream, experiment::Phases::offline);
  CAPTURE(to_string(phases));
  auto record = ok_record();
  record.trial.phases = phases;
  CHECK_THROWS_AS(json(record).get<TrialRecord>(), UsageError);
  auto& summary = *record.summary;
  if (phases == experiment::Phases::single_stream) {
    record.offline.reset();
    summary.throughput_image_per_s.reset();
    summary.latency_under_load.reset();
    summary.stages.clear();
  } else {
    record.single_stream.reset();
    summary.latency.reset();
    summary.breakdown.clear();
    summary.links.clear();
  }
  CHECK(there_and_back(record) == record);
  auto of_both = record;
  of_both.trial.phases = experiment::Phases::both;
  CHECK_THROWS_AS(json(of_both).get<TrialRecord>(), UsageError);
  auto zero = json(record);
  zero["summary"][phases == experiment::Phases::offline ? "latency" : "throughput_image_per_s"] = 0;
  CHECK_THROWS_AS(zero.get<TrialRecord>(), UsageError);
}

TEST_CASE("what is known of some records only comes back as it was, and is missing where it is not known") {
  struct Part {
    const char* place;
    void (*set)(TrialRecord&);
    json written;
  };
  const std::vector<Part> parts{
      {"/stages/0/prepared",
       [](auto& record) { record.stages[0].prepared = Preparation{true, 1, 9007199254740993, 2, 3, 4}; },
       {{"made", true},
        {"duration_ns", 1},
        {"graph_bytes", 9007199254740993},
        {"graphs", 2},
        {"graphs_bytes", 3},
        {"limit_bytes", 4}}},
      {"/stages/1/memory",
       [](auto& record) {
         record.stages[1].memory = host::StageMemory{17, 18, 19};
       },
       {{"weights_bytes", 17}, {"prepared_bytes", 18}, {"tensors_bytes", 19}}},
      {"/fidelity/unsplit_against_eager",
       [](auto& record) {
         record.fidelity->unsplit_against_eager = UnsplitFidelity{0.5, 0.75, 8, 1};
       },
       {{"max_abs_difference", 0.5}, {"top1_agreement", 0.75}, {"images", 8}, {"tolerance", 1.0}}},
      {"/stages/0/conditions",
       [](auto& record) {
         record.stages[0].conditions = host::CpuConditions{1, 2, host::CpuTime{3, 4, 5}};
       },
       {}},
      {"/stages/1/conditions",
       [](auto& record) {
         record.stages[1].conditions = host::CpuConditions{6, 7, std::nullopt};
       },
       {}},
      {"/outliers",
       [](auto& record) {
         record.outliers = record::Outliers{{1}, {}};
       },
       {}},
      {"/slow_downs",
       [](auto& record) {
         record.slow_downs = {{true, 1, 20, 1e6, 2.5e6}, {false, 0, 9, 3, 7}};
       },
       {}},
      {"/stages/0/gpu",
       [](auto& record) {
         record.stages[0].gpu = host::GpuUsage{0.5, 7};
       },
       {}},
      {"/stages/0/last_block", [](auto& record) { record.stages[0].last_block = "layer2.0"; }, "layer2.0"},
      {"/stages/0/git_state", [](auto& record) { record.stages[0].git_state = "abc123"; }, "abc123"},
      {"/stages/1/emulated_device",
       [](auto& record) {
         record.stages[1].emulated_device = record::EmulatedDevice{
             .profile = "pi", .device = 1, .cpu_quota = 0.25, .memory_limit_bytes = 7, .cgroup_version = 2};
         record.trial.devices = {{}, {.name = "pi", .threads = 1, .cpu_quota = 0.25}};
       },
       {}},
      {"/provenance/stage_program_sha256",
       [](auto& record) { record.provenance.stage_program_sha256 = std::string(64, 'a'); }, std::string(64, 'a')},
      {"/provenance/side_by_side",
       [](auto& record) {
         record.provenance.side_by_side = record::SideBySide{"0123456789abcdef", 1};
       },
       {}}};
  for (const auto& [place, set, expected] : parts) {
    CAPTURE(place);
    auto record = ok_record();
    const json::json_pointer pointer(place);
    CHECK_FALSE(json(record).contains(pointer));
    set(record);
    const json written = record;
    if (!expected.is_null()) CHECK(written.at(pointer) == expected);
    CHECK(there_and_back(record) == record);
    if (!expected.is_object()) continue;
    auto damaged = written;
    damaged.at(pointer).erase(expected.begin().key());
    CHECK_THROWS_AS(damaged.get<TrialRecord>(), UsageError);
  }
  auto record = ok_record();
  record.slow_downs = {{true, 1, 20, 1e6, 2.5e6}, {false, 0, 9, 3, 7}};
  CHECK(json(record)["slow_downs"][0]["phase"] == "offline");
  CHECK(json(record)["slow_downs"][1]["phase"] == "single_stream");
  record.stages[1].emulated_device = record::EmulatedDevice{.profile = "server", .device = 1};
  CHECK(json(record)["stages"][1]["emulated_device"].size() == 2);
}

TEST_CASE("what is undefined is missing from the JSON") {
  auto record = ok_record();
  record.stages[0].peak_rss_bytes.reset();
  record.stages[0].host.governor.reset();
  record.stages[0].state.cpu_frequency_hz.reset();
  const json written = record;
  CHECK_FALSE(written["stages"][0].contains("peak_rss_bytes"));
  CHECK_FALSE(written["stages"][0]["host"].contains("governor"));
  CHECK_FALSE(written["stages"][0]["state"].contains("cpu_frequency_hz"));
  CHECK(there_and_back(record) == record);
  const json failed = failed_record();
  for (const auto* key : {"single_stream", "offline", "fidelity", "summary"}) CHECK_FALSE(failed.contains(key));
  CHECK_FALSE(failed["failure"].contains("stage"));
  CHECK_FALSE(contains(failed.dump(), "null"));
}

TEST_CASE("records that were written with schema 1 are read and written byte for byte") {
  // If this fails, results on disk cannot be read any more, or new ones differ from results/README.md. A change of
  // meaning needs a new schema number, not a new golden file.
  CHECK(record::kSchemaVersion == 1);
  std::istringstream lines(support::read_file(PARETOPIPE_SOURCE_DIR "/tests/golden/record/schema1.jsonl"));
  for (const auto& expected : {ok_record(), failed_record()}) {
    std::string line;
    REQUIRE(std::getline(lines, line));
    CHECK(json::parse(line).get<TrialRecord>() == expected);
    CHECK(json(expected).dump() == line);
  }
}

TEST_CASE("two records are side by side only if they are of one pair and of one trial") {
  auto one = ok_record(), other = ok_record(), stranger = ok_record(1);
  CHECK_FALSE(record::side_by_side(one, other));
  one.provenance.side_by_side = record::SideBySide{"0123456789abcdef", 0};
  CHECK_FALSE(record::side_by_side(one, other));
  other.provenance.side_by_side = record::SideBySide{"0123456789abcdef", 1};
  CHECK(record::side_by_side(one, other));
  stranger.provenance.side_by_side = other.provenance.side_by_side;
  CHECK_FALSE(record::side_by_side(one, stranger));
  other.provenance.side_by_side->pair = "fedcba9876543210";
  CHECK_FALSE(record::side_by_side(one, other));
}

TEST_CASE("a record of another schema is refused with what to do") {
  json value = ok_record();
  value["schema"] = record::kSchemaVersion + 1;
  CHECK(contains(complaint_about(value), "use a newer paretopipe"));
  value["schema"] = 0;
  CHECK(contains(complaint_about(value), "measure again"));
  value["schema"] = 18446744073709551615U;
  CHECK(contains(complaint_about(value), "18446744073709551615"));
  CHECK(contains(complaint_about(value), "use a newer paretopipe"));
  value["schema"] = 1e300;
  CHECK(contains(complaint_about(value), "not a paretopipe record"));
  value.erase("schema");
  CHECK(contains(complaint_about(value), "not a paretopipe record"));
  for (const auto* other : {"[]", "{}", "null", "1", "\"schema\"", R"({"schema": "1"})", R"({"schema": null})"}) {
    CAPTURE(other);
    CHECK(contains(complaint_about(json::parse(other)), "not a paretopipe record"));
  }
}

TEST_CASE("whichever field is missing or of the wrong type, the record is refused, without the JSON library's codes") {
  const std::set<std::string> may_be_missing{"governor", "cpu_frequency_hz", "peak_rss_bytes", "compute",
                                             "codec_begin"};
  const json whole = ok_record();
  for_each_value(whole, json::json_pointer(), [&](const json::json_pointer& place) {
    CAPTURE(place.to_string());
    json damaged = whole;
    damaged[place] = mistyped(whole.at(place));
    CHECK_THROWS_AS(damaged.get<TrialRecord>(), UsageError);
    if (whole.at(place.parent_pointer()).is_array() || may_be_missing.contains(place.back())) return;
    damaged = whole;
    damaged.at(place.parent_pointer()).erase(place.back());
    CHECK_THROWS_AS(damaged.get<TrialRecord>(), UsageError);
  });
  json value = whole;
  value["trial"].erase("batch");
  CHECK(complaint_about(value) ==
        "the record's \"trial\" lacks a field or has one of the wrong type (key 'batch' not found)");
}

TEST_CASE("a word that this release does not know is not read as one that it knows") {
  json value = ok_record();
  value["status"] = "skipped";
  CHECK(contains(complaint_about(value), "the status \"skipped\" is unknown"));
  value["status"] = "\x1b[2J";  // would clear the reader's terminal
  CHECK_FALSE(contains(complaint_about(value), "\x1b"));
  value = ok_record();
  value["summary"]["breakdown"][0]["part"] = "teleport";
  CHECK(contains(complaint_about(value), "teleport"));
}

TEST_CASE("a number that would be read as another one is refused, whichever it is") {
  const json whole = ok_record();
  for_each_value(whole, json::json_pointer(), [&](const json::json_pointer& place) {
    if (!whole.at(place).is_number_integer() || place.to_string() == "/schema") return;
    for (const json& other : {json(whole.at(place).get<double>() + 0.5), json(true), json(1e300)}) {
      json damaged = whole;
      damaged[place] = other;
      CAPTURE(place.to_string(), other.dump());
      CHECK_THROWS_AS(damaged.get<TrialRecord>(), UsageError);
    }
  });
  json value = whole;
  value["links"][0]["payload_bytes"] = 8000.25;
  CHECK(contains(complaint_about(value),
                 "the record's \"links/0/payload_bytes\" is 8000.25, which would be read as 8000"));
}

TEST_CASE("a field that this release does not know is no damage") {
  json value = ok_record();
  value["weather"] = "fair";
  value["summary"]["colour"] = {1, 2, 3};
  CHECK(value.get<TrialRecord>() == ok_record());
}

TEST_CASE("a record whose trial was edited by hand is refused") {
  json value = ok_record();
  value["trial"]["batch"] = 16;
  CHECK(contains(complaint_about(value), "edited by hand"));
  value = ok_record();
  value["id"] = "0000000000000000";
  CHECK(contains(complaint_about(value), "edited by hand"));
}

TEST_CASE("an ok record that lacks its results, and a failed one that lacks its reason, are refused") {
  for (const auto* part : {"single_stream", "offline", "fidelity", "summary"}) {
    json value = ok_record();
    value.erase(part);
    CAPTURE(part);
    CHECK_THROWS_AS(value.get<TrialRecord>(), UsageError);
  }
  json value = ok_record();
  value["failure"] = {{"phase", "run"}, {"reason", "none"}};
  CHECK_THROWS_AS(value.get<TrialRecord>(), UsageError);
  value = failed_record();
  value.erase("failure");
  CHECK_THROWS_AS(value.get<TrialRecord>(), UsageError);
}

TEST_CASE("as many changed classes as are allowed are no more than are allowed, whatever is rounded") {
  for (const int changed : {1, 2, 3, 5, 10, 30}) {
    CAPTURE(changed);
    record::Fidelity fidelity;
    fidelity.lossy_codec = true;
    fidelity.top1_agreement = (100 - changed) / 100.0;
    fidelity.max_flips = changed / 100.0;
    CHECK(fidelity.kept());
    fidelity.top1_agreement -= 1e-6;
    CHECK_FALSE(fidelity.kept());
  }
}
