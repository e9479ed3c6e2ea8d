// Real sweeps compared by the built driver, as a continuous integration would.
#include <paretopipe/analysis/stats/summarise.hpp>

#include <cmath>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;

namespace {

/// Two splits in five repetitions, of a model whose blocks take long enough to have a rhythm.
Words sweep_to_compare(const std::string& model, const std::string& out) {
  return "sweep --split 1,2 --data random --batches 4 --warmup 1 --repeat 5 --repeat-slow 0 --model " + model +
         " --out " + out;
}

/// With the records of one such sweep in `base`, once for all tests here.
const Shell& based() {
  static const Shell shell;
  static const auto outcome = shell.run(0, sweep_to_compare("synthetic:1ms/4kB,1ms", "base"));
  return shell;
}

/// Of a busy machine, too.
constexpr double kFarBeyondNoise = 1000;

void scale(std::vector<std::int64_t>& moments, double factor) {
  for (auto& moment : moments) moment = std::llround(static_cast<double>(moment) * factor);
}

void scale(record::PhaseSamples& samples, double factor) {
  for (auto& stage : samples.stages) {
    for (const auto member : kStageMoments) scale(stage.*member, factor);
  }
  for (const auto member : kResultMoments) scale(samples.results.*member, factor);
}

/// What the base's records would say had everything taken `factor` as long.
std::vector<record::TrialRecord> slowed(double factor) {
  auto records = based().records("base");
  for (auto& record : records) {
    scale(*record.single_stream, factor);
    scale(*record.offline, factor);
    record.summary = stats::summarise(*record.single_stream, *record.offline, record.trial.batch, record.links);
  }
  return records;
}

void write(const std::string& folder, const std::vector<record::TrialRecord>& records) {
  std::filesystem::remove_all(based().folder() / folder);
  record::RecordStore store(based().folder() / folder, false);
  for (const auto& record : records) store.append(record);
}

Words compare_with(const std::string& now) {
  return "compare base " + now + " --fail-on 'throughput < -5%' --fail-on 'latency_p95 > +10%'";
}

}  // namespace

TEST_CASE("a slower pipeline is a regression in every format, and the same again is none") {
  write("slow", slowed(kFarBeyondNoise));
  for (const std::string format : {"text", "markdown", "json", "junit"}) {
    const auto regression = based().run(1, compare_with("slow") + ("--format " + format));
    CHECK(contains(regression.output, "broken"));
    CHECK(regression.errors.empty());
    const auto same =
        based().run(0, compare_with("base/records.jsonl") + ("--out same." + format + " --format " + format));
    CHECK(same.output.empty());
    CHECK_FALSE(based().text("same." + format).empty());
  }
  const auto text = based().run(compare_with("slow")).output;
  CHECK(text.starts_with("Regression: 6 of 6 checks are broken."));
  check_contains(text, {"-99.9 %", "+99900.0 %"});
  CHECK(contains(based().run(compare_with("base")).output, "No regression: 0 of 6 checks are broken."));
}

TEST_CASE("a faster pipeline, a change below the threshold, and a change without a rule are no regression") {
  write("fast", slowed(0.05));
  write("slow", slowed(kFarBeyondNoise));
  based().run(0, compare_with("fast"));
  based().run(0, "compare base slow");
  based().run(0, "compare base slow --fail-on 'throughput < -99.95%'");
  based().run(1, "compare base slow --fail-on 'throughput < -40%'");
}

TEST_CASE("--metric chooses what is shown, and a rule adds its own") {
  const auto shown = [&](const std::string& more) {
    const auto document = based().as_json("compare base base " + more);
    std::vector<std::string> names;
    for (const auto& change : document["configurations"][0]["changes"]) names.push_back(change["metric"]);
    return names;
  };
  CHECK(shown("") == std::vector<std::string>{"latency_p50", "latency_p95", "throughput"});
  CHECK(shown("--metric payload --metric compute") == std::vector<std::string>{"payload", "compute"});
  CHECK(shown("--metric payload --fail-on 'bubble > +5%'") == std::vector<std::string>{"payload", "bubble"});
}

TEST_CASE("too few repetitions pass and are said, and fail with --strict") {
  auto records = slowed(kFarBeyondNoise);
  std::erase_if(records, [](const auto& record) { return record.trial.repetition > 1; });
  write("few", records);
  check_contains(based().run(0, compare_with("few")).output,
                 {"6 could not be decided", "5 repetitions against 2 are too few"});
  CHECK(contains(based().run(compare_with("few") + "--format junit").output, "skipped=\"6\""));
  based().run(1, compare_with("few") + "--strict");
}

TEST_CASE("a split that only fails now is a regression") {
  auto records = slowed(1);
  for (auto& record : records) {
    if (record.trial.split_points.front() != 1) continue;
    record.status = record::Status::failed;
    record.summary.reset();
    record.failure = record::Failure{"run", 1, "killed by signal 9"};
  }
  write("broken", records);
  check_contains(based().run(1, compare_with("broken")).output,
                 {"Regression: 2 of 4 checks are broken.", "not one of the new repetitions succeeded"});
}

TEST_CASE("a wrong request of a comparison is answered by exit code 2 and the name of what is wrong") {
  based().run(0, sweep_to_compare("synthetic:1ms/8kB,1ms", "other"));
  check_refused(based(), "compare base",
                {{"", "new"},
                 {"nowhere", "there are no records at nowhere"},
                 {"other", "model (synthetic:1ms/4kB,1ms and synthetic:1ms/8kB,1ms)"},
                 {"base --metric troughput", "did you mean \"throughput\""},
                 {"base --fail-on 'troughput < -5%'", "did you mean \"throughput\""},
                 {"base --fail-on 'throughput < -5'", "is not a rule"},
                 {"base --format xml", "xml"},
                 {"base --format junit", "--fail-on"},
                 {"base --strict", "--fail-on"}});
}

TEST_CASE("records whose numbers were edited by hand are refused by every command that would use them") {
  auto text = based().text("base/records.jsonl");
  const std::string key = "\"throughput_image_per_s\":";
  const auto second = text.find(key, text.find('\n'));
  based().write("edited.jsonl", text.insert(second + key.size(), "9"));
  for (const auto* words : {"compare base edited.jsonl", "frontier edited.jsonl", "export edited.jsonl --out x",
                            "merge edited.jsonl --out x"}) {
    check_contains(based().run(2, words).errors, {"edited.jsonl:2: trial ", "summary/throughput_image_per_s"});
  }
}
