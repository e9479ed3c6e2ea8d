// Codecs as an axis of a sweep, as from a shell.
#include <paretopipe/analysis/stats/summarise.hpp>

#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// 1000 values cross after the first block and 250 after the second.
const Words kOptions =
    "--model synthetic:1ms/4kB,1ms/1kB,1ms --data random --batches 6 --warmup 1 --repeat 1 --repeat-slow 0";
const Words kSweepOfCodecs = Words("sweep --out out") + kOptions;

/// Bytes on the first link, by split point and codec.
std::map<std::pair<int, std::string>, record::LinkPayload> first_links(const Shell& shell) {
  std::map<std::pair<int, std::string>, record::LinkPayload> links;
  for (const auto& record : shell.records()) {
    if (record.links.empty()) continue;
    links[{record.trial.split_points.front(), record.trial.codec}] = record.links.front();
  }
  return links;
}

}  // namespace

TEST_CASE("every codec is measured at every cut that something crosses, with the bytes that it states") {
  const Shell shell;
  shell.run(0, kSweepOfCodecs +
                   "--codec none,float16,bfloat16,uniform8,channel8,channel4,sort16,sort12,sort12-wide,sort8,sort4,"
                   "sort4-wide,zstd,lz4,sort8+zstd");
  CHECK(shell.records().size() == 3 * 15 + 1);  // where all is local nothing crosses
  const auto links = first_links(shell);
  for (const auto& [codec, bytes] : std::initializer_list<std::pair<const char*, std::int64_t>>{{"float16", 2000},
                                                                                                {"bfloat16", 2000},
                                                                                                {"uniform8", 1008},
                                                                                                {"sort16", 2128},
                                                                                                {"sort12", 1564},
                                                                                                {"sort12-wide", 2064},
                                                                                                {"sort8", 1032},
                                                                                                {"sort4", 516},
                                                                                                {"sort4-wide", 1016}}) {
    CAPTURE(codec);
    CHECK(links.at({1, codec}).payload_bytes == bytes);
    CHECK(links.at({1, codec}).unencoded_bytes == 4000);
  }
  CHECK(links.at({1, "none"}).payload_bytes == 4000);
  CHECK_FALSE(links.at({1, "none"}).unencoded_bytes);
  CHECK(links.at({1, "zstd"}).payload_bytes > 0);
  for (const auto& record : shell.records()) {
    INFO(record.trial.label());
    CHECK(record.status == record::Status::ok);
    CHECK_NOTHROW(stats::check_summary(record));
    const auto& codec = record.trial.codec;
    const bool lossy = codec != "none" && codec != "zstd" && codec != "lz4";
    CHECK(record.fidelity->lossy_codec == lossy);
    if (!lossy) CHECK(record.fidelity->max_abs_difference == 0);
  }
}

TEST_CASE("cuts with different codecs share a frontier, which says which, and so do exports and comparisons") {
  const Shell shell;
  shell.run(0, kSweepOfCodecs + "--codec none,sort8");
  const auto frontier = shell.as_json("frontier out");
  REQUIRE(frontier.at("groups").size() == 1);
  std::set<std::pair<int, std::string>> rows;
  for (const auto& split : frontier.at("groups")[0].at("splits")) {
    rows.emplace(split.at("split_points")[0], split.value("codec", "none"));
  }
  CHECK(rows.size() == 7);
  CHECK(rows.contains({1, "sort8"}));
  check_contains(shell.run(0, "frontier out").output, {"1 sort8"});
  check_contains(shell.run(0, "explain out").output, {"1/3 sort8: "});
  const auto only = shell.as_json("frontier out --where 'codec = sort8'");
  for (const auto& split : only.at("groups")[0].at("splits")) {
    CHECK(split.contains("excluded_by") ==
          (split.value("codec", "none") == "none" && split.at("split_points")[0] != 3));
  }
  shell.run(0, "export out --out exported --layout trials");
  check_contains(shell.text("exported/trials.csv"), {",codec,", ",sort8,"});
  CHECK(contains(shell.run("export out --layout python --out exported").errors, "with a codec"));
  const auto same = shell.run("compare out out");
  CHECK_FALSE(contains(same.output + same.errors, "only in"));
  shell.run(0, Words("sweep --out plain") + kOptions);
  const auto other = nlohmann::json::parse(shell.run("compare plain out --format json").output);
  REQUIRE(other.at("only_in_new").size() == 3);
  for (const auto& one : other.at("only_in_new")) CHECK(contains(one.dump(), "sort8"));
  shell.run(0, "report out -o report.html");
  CHECK(contains(shell.text("report.html"), "1 sort8"));
}

TEST_CASE("a list of codecs is resumed, planned and found in an experiment file like any other axis") {
  const Shell shell;
  shell.write("e.json", R"({"codec": ["none", "channel8+lz4"]})");
  const auto sweep = Words("sweep e.json --out out") + kOptions;
  check_contains(shell.run(0, sweep + "--dry-run").output, {"codec channel8+lz4", "7 trials"});
  shell.run(0, sweep);
  shell.run(0, sweep + "--codec none,channel8+lz4,bfloat16 --resume");
  CHECK(shell.records().size() == 10);
  shell.write("each.json", R"({"codec": ["none", "sort8/zstd:9"], "stages": 3, "partitions": ["1,2"]})");
  shell.run(0, Words("sweep each.json --out each") + kOptions);
  const auto records = shell.records("each");
  REQUIRE(records.size() == 2);
  const auto& encoded = records[records[0].trial.codec == "none" ? 1 : 0];
  CHECK(encoded.trial.codec == "sort8/zstd:9");
  CHECK(encoded.links.at(0).payload_bytes == 1000 + 32);
}

TEST_CASE("each of several cuts may have a codec of its own") {
  const Shell shell;
  shell.run(0, kSweepOfCodecs + "--stages 3 --partitions 1,2 --codec none/sort8,float16/float16");
  const auto records = shell.records();
  REQUIRE(records.size() == 2);
  for (const auto& record : records) {
    INFO(record.trial.label());
    const bool same = record.trial.codec == "float16";
    CHECK((same || record.trial.codec == "none/sort8"));
    CHECK(record.links.at(0).payload_bytes == (same ? 2000 : 4000));
    CHECK(record.links.at(1).payload_bytes == (same ? 500 : 250 + 32));
    CHECK(record.links.at(2).payload_bytes == 40);  // results cross as they are
  }
}

TEST_CASE("batches that are cut, and stages at any depth, are encoded micro-batch by micro-batch") {
  const Shell shell;
  shell.run(0, kSweepOfCodecs + "--batch 4 --micro-batch 1,2 --depth 1,8 --split 1 --codec uniform8");
  const auto records = shell.records();
  CHECK(records.size() == 4);
  for (const auto& record : records) {
    CHECK(record.status == record::Status::ok);
    CHECK(record.links.at(0).unencoded_bytes == 4000 * record.trial.micro_batches());
    CHECK(record.links.at(0).payload_bytes == 1008 * record.trial.micro_batches());
  }
}

TEST_CASE("a codec that changes more classes than are allowed fails its trials, which say so") {
  const Shell shell;
  // The synthetic model's output has nothing in common with that of any other input.
  const auto outcome = shell.run(1, kSweepOfCodecs + "--split 1 --codec none,sort4 --max-flips 10%");
  CHECK(contains(outcome.output + outcome.errors, "the codec changed the class of"));
  for (const auto& record : shell.records()) {
    CHECK((record.status == record::Status::failed) == (record.trial.codec == "sort4"));
  }
}

TEST_CASE("one activation crosses with each codec, with the bytes, the loss, and the rate below which it pays") {
  const Shell shell;
  const auto command = Words("codecs synthetic:1ms/400kB,1ms --data random --batches 4 --warmup 1");
  const auto all = shell.as_json(command + "--split 1");
  CHECK(all.size() == codec::catalogue().size() - 1);  // without two for images, and with channel8+zstd
  CHECK(all[0].at("codec") == "none");
  for (const auto& one : all) {
    INFO(one.dump());
    CHECK(one.at("status") == "ok");
    if (one.at("codec") == "sort8") {
      CHECK(one.at("payload_bytes") == 100'000 + 32 + 40);  // and the results
      CHECK(one.at("coding_ns").get<double>() > 0);
      CHECK(one.at("break_even_bit_per_s").get<double>() ==
            Approx(8 * (400'000 - 100'032) / (one.at("coding_ns").get<double>() * 1e-9)));
    }
  }
  const auto table = shell.run(0, command + "--split 1 --codec float16").output;
  check_contains(table, {"split 1/2", "float16", "50.0 %", "pays below"});
  CHECK_FALSE(contains(table, "sort8"));
  check_contains(shell.run(0, "codecs").output, {"sort12-wide", "bits a value"});
  CHECK(shell.as_json("codecs").size() == codec::catalogue().size());
  check_refused(shell, "codecs",
                {{"--split 1", "name the model"},
                 {"synthetic:1ms/4kB,1ms --data random", "--split 5"},
                 {"synthetic:1ms/4kB,1ms --data random --split 2", "one cut that something crosses"},
                 {"synthetic:1ms/4kB,1ms/4kB,1ms --data random --split 1,2", "name one cut with --split"}});
}

TEST_CASE("codecs that there are not, or that nothing could use, are refused in a sentence") {
  check_refused(Shell(), std::string("sweep --model synthetic:1ms/4kB,1ms --data random --out no"),
                {{"--codec sort7", "\"sort7\" is no codec; there are none, float16"},
                 {"--codec none,none", "experiment.codec holds none twice"},
                 {"--codec sort8/sort8/none", "experiment.codec holds sort8/sort8/none, which names 3 codecs"},
                 {"--codec zstd+lz4", "is no codec"},
                 {"--codec jpeg", "jpeg is for a model's input; name it in --codec-input"},
                 {"--codec-input jpeg:50", "experiment.codec_input is jpeg:50, which encodes images"},
                 {"--codec-input jpeg:0", "the quality of jpeg is 1 to 100"},
                 {"--max-flips 2", "--max-flips"}});
}
