// `paretopipe export` on records of real runs: what was measured, in the layouts of other programs.
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>
#include <support/catch.hpp>
#include <support/file_size_limit.hpp>
#include <support/message_of.hpp>
#include <support/trace_events.hpp>

#include "driver_fixture.hpp"

using namespace paretopipe;
using namespace paretopipe::testing;
using support::contains;
using support::joined_events;
using support::nanoseconds;

namespace {

/// The only file in `folder`; none for no or several files.
std::filesystem::path only_file(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return {};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files.size() == 1 ? files.front() : std::filesystem::path{};
}

/// Of every batch of a phase: the sum of its parts, and its latency.
struct Sums {
  std::int64_t parts = 0;
  std::int64_t latency = 0;
};

std::map<std::pair<std::string, int>, Sums> sums_of(const nlohmann::json& trace) {
  std::map<std::pair<std::string, int>, Sums> sums;
  for (const auto& event : joined_events(trace)) {
    const auto kind = event.value("cat", "");
    if (!kind.starts_with("part,") && !kind.starts_with("batch,")) continue;
    auto& sum = sums[{event["args"]["phase"], event["args"]["batch"]}];
    (kind.starts_with("part,") ? sum.parts : sum.latency) += nanoseconds(event["dur"]);
  }
  return sums;
}

}  // namespace

TEST_CASE("the trace of a real trial shows its latencies and bubbles") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto split = GENERATE(as<std::string>{}, "0", "1", "3");
  const auto made =
      shell.run({"export", "out", "--layout", "trace", "--split", split, "--repetition", "2", "--out", "t"});
  INFO(made.errors);
  REQUIRE(made.exit_code == 0);
  const auto file = only_file(shell.folder() / "t");
  CHECK(contains(made.errors, file.filename().string()));
  const auto trace = nlohmann::json::parse(support::read_file(file));

  const auto records = shell.records();
  const auto record = std::find_if(records.begin(), records.end(), [&](const auto& candidate) {
    return candidate.trial.id() == trace["otherData"]["trial"].template get<std::string>();
  });
  REQUIRE(record != records.end());
  CHECK(std::to_string(record->trial.split_points.front()) == split);
  CHECK(record->trial.repetition == 1);

  const auto sums = sums_of(trace);
  CHECK(sums.size() == 2 * 5);
  for (const auto& [batch, sum] : sums) CHECK(sum.parts == sum.latency);
  std::map<int, std::int64_t> idle;
  std::int64_t window = 0;
  for (const auto& event : joined_events(trace)) {
    if (event["name"] == "bubble") idle[event["pid"].get<int>() - 1] += nanoseconds(event["dur"]);
    if (event["name"] == "throughput window") window = nanoseconds(event["dur"]);
  }
  for (std::size_t stage = 0; stage < record->summary->stages.size(); ++stage) {
    CHECK(static_cast<double>(idle[static_cast<int>(stage)]) / static_cast<double>(window) ==
          Approx(record->summary->stages[stage].bubble).margin(1e-9));
  }
}

TEST_CASE("a trace of several trials is refused with their ids, and one of these chooses") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto several = shell.run({"export", "out", "--layout", "trace", "--split", "1", "--out", "t"});
  CHECK(several.exit_code == 2);
  CHECK(contains(several.errors, "there are 2"));
  CHECK_FALSE(std::filesystem::exists(shell.folder() / "t"));
  const auto id = shell.records().front().trial.id();
  CHECK(shell.run({"export", "out", "--layout", "trace", "--trial", id.substr(0, 8), "--out", "t"}).exit_code == 0);
  const auto none = shell.run({"export", "out", "--layout", "trace", "--trial", "nonsense", "--out", "n"});
  CHECK(none.exit_code == 2);
  CHECK(contains(none.errors, id));
}

TEST_CASE("batches and JSON Lines of a real sweep have a row a batch and an object a trial") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  REQUIRE(shell.run({"export", "out", "--layout", "batches", "--out", "x"}).exit_code == 0);
  REQUIRE(shell.run({"export", "out", "--layout", "jsonl", "--split", "1", "--out", "x"}).exit_code == 0);
  const auto batches = support::read_file(shell.folder() / "x" / "batches.csv");
  // The heading, and a warm-up and four batches of both phases of each trial.
  CHECK(std::count(batches.begin(), batches.end(), '\n') == 1 + kTrials * 2 * 5);
  std::istringstream lines(support::read_file(shell.folder() / "x" / "trials.jsonl"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = nlohmann::json::parse(line);
    CHECK(json.at("split") == "1");
    CHECK(json.at("latency_p50_ns").get<double>() > 0);
  }
  CHECK(count == 2);
}

TEST_CASE("a disk that fills up during an export leaves the former file, and no half of a new one") {
  const Shell shell;
  REQUIRE(shell.run(kSweep).exit_code == 0);
  const auto layout = GENERATE(as<std::string>{}, "batches", "jsonl", "trace");
  const Shell::Words command{"export", "out", "--layout", layout, "--trial", shell.records().front().trial.id(),
                             "--out",  "x"};
  REQUIRE(shell.run(command).exit_code == 0);
  const auto file = only_file(shell.folder() / "x");
  support::write_file(file, "former");
  {
    const support::FileSizeLimit full(600);  // enough for what the program says, which goes to a file, too
    const auto cut_off = shell.run(command);
    CHECK(cut_off.exit_code == 3);
    CHECK(contains(cut_off.errors, file.filename().string()));
  }
  CHECK(only_file(shell.folder() / "x") == file);
  CHECK(support::read_file(file) == "former");
}
