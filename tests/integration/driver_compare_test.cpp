// Real sweeps compared by the built driver, as a continuous integration would.
#include <paretopipe/analysis/stats/summarise.hpp>

#include <cmath>

#include <support/catch.hpp>
#include <support/message_of.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;
using support::read_file;
using support::write_file;

namespace {

/// Two splits in five repetitions, of a model whose blocks take long enough to have a rhythm.
const Shell::Words kBase{"sweep",
                         "--model",
                         "synthetic:1ms/4kB,1ms",
                         "--split",
                         "1,2",
                         "--data",
                         "random",
                         "--out",
                         "base",
                         "--batches",
                         "4",
                         "--warmup",
                         "1",
                         "--repeat",
                         "5",
                         "--repeat-slow",
                         "0"};

/// Of a busy machine, too.
constexpr double kFarBeyondNoise = 20;

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
std::vector<record::TrialRecord> slowed(const Shell& shell, double factor) {
  auto records = record::read_records(shell.folder() / "base").records;
  for (auto& record : records) {
    scale(*record.single_stream, factor);
    scale(*record.offline, factor);
    record.summary = stats::summarise(*record.single_stream, *record.offline, record.trial.batch, record.links);
  }
  return records;
}

void write(const Shell& shell, const std::string& folder, const std::vector<record::TrialRecord>& records) {
  record::RecordStore store(shell.folder() / folder, false);
  for (const auto& record : records) store.append(record);
}

Shell::Words compare_with(const std::string& now, const Shell::Words& more = {}) {
  return Shell::Words{"compare", "base", now, "--fail-on", "throughput < -5%", "--fail-on", "latency_p95 > +10%"} +
         more;
}

}  // namespace

TEST_CASE("a slower pipeline is a regression in every format, and the same again is none") {
  const Shell shell;
  REQUIRE(shell.run(kBase).exit_code == 0);
  write(shell, "slow", slowed(shell, kFarBeyondNoise));
  for (const std::string format : {"text", "markdown", "json", "junit"}) {
    CAPTURE(format);
    const auto regression = shell.run(compare_with("slow", {"--format", format}));
    CHECK(regression.exit_code == 1);
    CHECK(contains(regression.output, "broken"));
    CHECK(regression.errors.empty());
    const auto same = shell.run(compare_with("base/records.jsonl", {"--format", format, "--out", "file"}));
    CHECK(same.exit_code == 0);
    CHECK(same.output.empty());
    CHECK_FALSE(read_file(shell.folder() / "file").empty());
  }
  const auto text = shell.run(compare_with("slow")).output;
  INFO(text);
  CHECK(text.starts_with("Regression: 6 of 6 checks are broken."));
  CHECK(contains(text, "-95.0 %"));
  CHECK(contains(text, "+1900.0 %"));
  CHECK(contains(shell.run(compare_with("base")).output, "No regression: 0 of 6 checks are broken."));
}

TEST_CASE("a faster pipeline, a change below the threshold, and a change without a rule are no regression") {
  const Shell shell;
  REQUIRE(shell.run(kBase).exit_code == 0);
  write(shell, "fast", slowed(shell, 1 / kFarBeyondNoise));
  CHECK(shell.run(compare_with("fast")).exit_code == 0);
  write(shell, "slow", slowed(shell, kFarBeyondNoise));
  CHECK(shell.run({"compare", "base", "slow"}).exit_code == 0);
  CHECK(shell.run({"compare", "base", "slow", "--fail-on", "throughput < -96%"}).exit_code == 0);
  CHECK(shell.run({"compare", "base", "slow", "--fail-on", "throughput < -40%"}).exit_code == 1);
}

TEST_CASE("--metric chooses what is shown, and a rule adds its own") {
  const Shell shell;
  REQUIRE(shell.run(kBase).exit_code == 0);
  const auto shown = [&](const Shell::Words& more) {
    const auto document =
        nlohmann::json::parse(shell.run(Shell::Words{"compare", "base", "base", "--format", "json"} + more).output);
    std::vector<std::string> names;
    for (const auto& change : document["configurations"][0]["changes"]) names.push_back(change["metric"]);
    return names;
  };
  CHECK(shown({}) == std::vector<std::string>{"latency_p50", "latency_p95", "throughput"});
  CHECK(shown({"--metric", "payload", "--metric", "compute"}) == std::vector<std::string>{"payload", "compute"});
  CHECK(shown({"--metric", "payload", "--fail-on", "bubble > +5%"}) == std::vector<std::string>{"payload", "bubble"});
}

TEST_CASE("too few repetitions pass and are said, and fail with --strict") {
  const Shell shell;
  REQUIRE(shell.run(kBase).exit_code == 0);
  auto records = slowed(shell, kFarBeyondNoise);
  std::erase_if(records, [](const auto& record) { return record.trial.repetition > 1; });
  write(shell, "few", records);
  const auto answer = shell.run(compare_with("few"));
  CHECK(answer.exit_code == 0);
  CHECK(contains(answer.output, "6 could not be decided"));
  CHECK(contains(answer.output, "5 repetitions against 2 are too few"));
  CHECK(contains(shell.run(compare_with("few", {"--format", "junit"})).output, "skipped=\"6\""));
  CHECK(shell.run(compare_with("few", {"--strict"})).exit_code == 1);
}

TEST_CASE("a split that only fails now is a regression") {
  const Shell shell;
  REQUIRE(shell.run(kBase).exit_code == 0);
  auto records = slowed(shell, 1);
  for (auto& record : records) {
    if (record.trial.split_points.front() != 1) continue;
    record.status = record::Status::failed;
    record.summary.reset();
    record.failure = record::Failure{"run", 1, "killed by signal 9"};
  }
  write(shell, "broken", records);
  const auto answer = shell.run(compare_with("broken"));
  CHECK(answer.exit_code == 1);
  CHECK(contains(answer.output, "Regression: 2 of 4 checks are broken."));
  CHECK(contains(answer.output, "not one of the new repetitions succeeded"));
}

TEST_CASE("a wrong request of a comparison is answered by exit code 2 and the name of what is wrong") {
  const Shell shell;
  REQUIRE(shell.run(kBase).exit_code == 0);
  auto other = kBase;
  other[2] = "synthetic:1ms/8kB,1ms";
  other[8] = "other";
  REQUIRE(shell.run(other).exit_code == 0);
  struct Wrong {
    Shell::Words words;
    std::string named;
  };
  for (const auto& [words, named] :
       std::vector<Wrong>{{{"compare", "base"}, "new"},
                          {{"compare", "base", "nowhere"}, "there are no records at nowhere"},
                          {{"compare", "base", "other"}, "model (synthetic:1ms/4kB,1ms and synthetic:1ms/8kB,1ms)"},
                          {{"compare", "base", "base", "--metric", "troughput"}, "did you mean \"throughput\""},
                          {{"compare", "base", "base", "--fail-on", "troughput < -5%"}, "did you mean \"throughput\""},
                          {{"compare", "base", "base", "--fail-on", "throughput < -5"}, "is not a rule"},
                          {{"compare", "base", "base", "--format", "xml"}, "xml"},
                          {{"compare", "base", "base", "--format", "junit"}, "--fail-on"},
                          {{"compare", "base", "base", "--strict"}, "--fail-on"}}) {
    const auto answer = shell.run(words);
    CAPTURE(words, answer.errors);
    CHECK(answer.exit_code == 2);
    CHECK(contains(answer.errors, named));
    CHECK(answer.output.empty());
  }
}

TEST_CASE("records whose numbers were edited by hand are refused by every command that would use them") {
  const Shell shell;
  REQUIRE(shell.run(kBase).exit_code == 0);
  auto text = read_file(shell.folder() / "base" / "records.jsonl");
  const std::string key = "\"throughput_image_per_s\":";
  const auto second = text.find(key, text.find('\n'));
  text.insert(second + key.size(), "9");
  write_file(shell.folder() / "edited.jsonl", text);
  for (const auto& words : std::vector<Shell::Words>{{"compare", "base", "edited.jsonl"},
                                                     {"frontier", "edited.jsonl"},
                                                     {"export", "edited.jsonl", "--out", "x"},
                                                     {"merge", "edited.jsonl", "--out", "x"}}) {
    const auto answer = shell.run(words);
    CAPTURE(words, answer.errors);
    CHECK(answer.exit_code == 2);
    CHECK(contains(answer.errors, "edited.jsonl:2: trial "));
    CHECK(contains(answer.errors, "summary/throughput_image_per_s"));
  }
}

TEST_CASE("a comparison that a full disk cuts off is an error, not a verdict") {
  const Shell shell;
  REQUIRE(shell.run(kBase).exit_code == 0);
  auto program = shell.start(compare_with("base"), "/dev/full");
  const auto answer = program.wait();
  CHECK(answer.exit_code == 3);
  CHECK(contains(answer.errors, "No space left on device"));
}
